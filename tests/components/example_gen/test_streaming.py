"""One machine ingests without Beam, to the same bytes as with it."""

import pytest

from components.example_gen.run import ingest, local_pipeline
from data.dataset import Dataset
from data.errors import DataError

pytestmark = pytest.mark.engine

DAY = 86_400


def dataset(split, **changes):
    content = {
        "keys": {"label": "click", "user_id": "user", "timestamp": "t"},
        "split": split,
        "features": [{"kind": "categorical", "name": "item", "buckets": 10}],
    }
    return Dataset.model_validate({**content, **changes})


def write_logs(folder):
    """Three files; every second holds several rows, and some rows are bad."""
    folder.mkdir()
    for number in range(3):
        rows = [
            f"u{i % 50},{i},{DAY * (i % 5) + i // 9},{'x' if i % 97 == 0 else i % 7 % 2}"
            for i in range(number, 1500, 3)
        ]
        text = "\n".join(["user,item,t,click", *rows])
        (folder / f"{number}.csv").write_text(text + "\n")
    return str(folder)


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    "split",
    [
        {"by": "hash", "columns": ["user"]},
        {"by": "hash", "columns": ["user"], "validate_fraction": 0.2},
        {"by": "time", "eval_days": 1},
        {"by": "time", "eval_days": 1, "validate_days": 1},
        {"by": "time", "eval_fraction": 0.2},
        {"by": "time", "eval_fraction": 0.2, "validate_fraction": 0.1},
    ],
)
def test_the_bytes_are_those_of_the_beam_pipeline(tmp_path, split):
    log = write_logs(tmp_path / "log")
    declared = dataset(split, on_bad_row="quarantine", max_bad_fraction=0.1, shards=5)
    here, beam = tmp_path / "here", tmp_path / "beam"
    manifest = ingest([log], declared, str(here))
    assert manifest == ingest([log], declared, str(beam), pipeline=local_pipeline())
    assert files(here) == files(beam)
    # 1,500 rows, of which each 97th is bad.
    assert (manifest.rows_read, manifest.rows_quarantined) == (1500, 16)
    assert manifest.rows_written == 1500 - 16


def test_a_refused_row_leaves_no_shard(tmp_path):
    log = write_logs(tmp_path / "log")
    out = tmp_path / "out"
    with pytest.raises(DataError, match=r"0\.csv"):
        ingest([log], dataset({"by": "hash", "columns": ["user"]}), str(out))
    assert files(tmp_path / "out") == {}


def test_more_shards_than_files_may_be_open_go_through_beam(tmp_path, monkeypatch):
    from components.example_gen import run

    monkeypatch.setattr(run, "MAX_SHARDS", 3)
    monkeypatch.setattr(run, "ingest_here", None)
    declared = dataset(
        {"by": "hash", "columns": ["user"]},
        on_bad_row="quarantine",
        max_bad_fraction=0.1,
    )
    manifest = ingest([write_logs(tmp_path / "log")], declared, str(tmp_path / "out"))
    assert manifest.rows_read == 1500

"""The ingest as a whole: nothing lost, exact splits, the same bytes again."""

import json
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from components.example_gen.run import describe, ingest, local_pipeline
from data.dataset import Dataset
from data.errors import DataError
from data.records import read_records
from data.shards import payload_chunks, verify_manifest

pytestmark = pytest.mark.engine


def dataset(**changes):
    content = {
        "keys": {"label": "click", "user_id": "user", "timestamp": "t"},
        "split": {"by": "hash", "columns": ["user"]},
        "features": [{"kind": "categorical", "name": "item", "buckets": 10}],
    }
    return Dataset.model_validate({**content, **changes})


def log(path, rows):
    lines = ["user,item,t,click", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def many(n=500):
    return [(f"u{i % 50}", i, 86_400 * (i % 5) + i, int(i % 7 == 0)) for i in range(n)]


def rows_of(folder, split):
    """Rows of a split as (user, item), in the order of the shards."""
    from tensorflow.core.example import example_pb2

    found = []
    for path in sorted(Path(folder, f"Split-{split}").iterdir()):
        for _, _, record in read_records(payload_chunks(str(path)), str(path)):
            features = example_pb2.Example.FromString(record).features.feature
            found.append(
                tuple(
                    # Of an absent value there is no feature.
                    b"".join(features[n].bytes_list.value[:1]).decode(errors="replace")
                    for n in ("user", "item")
                )
            )
    return found


def test_every_row_once_and_users_on_one_side(tmp_path):
    out = str(tmp_path / "out")
    manifest = ingest([log(tmp_path / "log.csv", many())], dataset(), out)
    train, evaluated = rows_of(out, "train"), rows_of(out, "eval")
    assert sorted(train + evaluated) == sorted((u, str(i)) for u, i, _, _ in many())
    assert not {user for user, _ in train} & {user for user, _ in evaluated}
    assert manifest.rows_written == manifest.rows_read == 500
    assert [fault for _, fault in verify_manifest(out) if fault] == []
    summary = describe(manifest)
    assert summary["splits"]["train"]["shards"] == 4
    assert sum(split["clicks"] for split in summary["splits"].values()) == 72  # 500 / 7
    assert sorted(path.name for path in Path(out).iterdir()) == [
        "Split-eval",
        "Split-train",
        "manifest.json",
    ]


def test_same_log_same_bytes(tmp_path):
    path = log(tmp_path / "log.csv", many())
    contents = []
    for name in ("a", "b"):
        ingest([path], dataset(), str(tmp_path / name))
        contents.append(
            {p.name: p.read_bytes() for p in (tmp_path / name).rglob("*.gz")}
        )
    assert contents[0] == contents[1]


def test_split_by_days(tmp_path):
    out = str(tmp_path / "out")
    split = {"by": "time", "eval_days": 2}
    manifest = ingest([log(tmp_path / "log.csv", many())], dataset(split=split), out)
    expected = {str(i) for _, i, t, _ in many() if t // 86_400 >= 3}
    assert {item for _, item in rows_of(out, "eval")} == expected
    assert manifest.splits["eval"].time.first >= 3 * 86_400


def test_split_by_fraction_breaks_ties_as_a_plain_sort(tmp_path):
    # 40 rows a second; users compare as numbers, so 9 < 10.
    rows = [(i % 11, i % 17, i // 40, i % 2) for i in range(400)]
    out = str(tmp_path / "out")
    split = {"by": "time", "eval_fraction": 0.33, "tie_break": ["user", "item"]}
    ingest([log(tmp_path / "log.csv", rows)], dataset(split=split), out)
    ordered = sorted(rows, key=lambda row: (row[2], row[0], row[1]))
    expected = [(str(u), str(i)) for u, i, _, _ in ordered[-132:]]  # 0.33 * 400
    assert sorted(rows_of(out, "eval")) == sorted(expected)


def by_split(tmp_path, rows, name, **changes):
    """Rows of each split of a log, as (user, item)."""
    folder = tmp_path / name
    folder.mkdir()
    declared = dataset(**changes)
    ingest([log(folder / "log.csv", rows)], declared, str(folder / "out"))
    return {s: sorted(rows_of(folder / "out", s)) for s in declared.split_names}


@pytest.mark.parametrize(
    ("split", "validate"),
    [
        ({"by": "time", "eval_days": 1}, {"validate_days": 2}),
        (
            {"by": "time", "eval_fraction": 0.2, "tie_break": ["item"]},
            {"validate_fraction": 0.3},
        ),
        ({"by": "hash", "columns": ["user"]}, {"validate_fraction": 0.25}),
    ],
)
def test_validation_rows_are_taken_from_the_training_rows(tmp_path, split, validate):
    two = by_split(tmp_path, many(), "two", split=split)
    three = by_split(tmp_path, many(), "three", split={**split, **validate})

    assert list(three) == ["train", "validate", "eval"]
    assert three["eval"] == two["eval"]
    assert sorted(three["train"] + three["validate"]) == two["train"]
    if split["by"] == "time":
        # 100 rows on each of the days 0 to 4; the last one is evaluated.
        day = {str(i): t // 86_400 for _, i, t, _ in many()}
        days = {day[item] for _, item in three["validate"]}
        # Two days, or 0.3 * 400 = 120 rows: day 3 and a part of day 2.
        assert days == {2, 3}
        assert max(day[item] for _, item in three["train"]) <= min(days)
    else:
        users = {name: {user for user, _ in rows} for name, rows in three.items()}
        assert not users["train"] & users["validate"]
        # 50 users, a quarter of the four fifths that are left.
        assert 3 <= len(users["validate"]) <= 20


def test_validation_rows_by_fraction_are_the_last_of_a_plain_sort(tmp_path):
    # 40 rows a second, so both borders cut through seconds.
    rows = [(i % 11, i % 17, i // 40, i % 2) for i in range(400)]
    split = {"by": "time", "eval_fraction": 0.33, "tie_break": ["user", "item"]}
    for fraction in (0.05, 0.4):  # the same second as the other border, and an earlier
        found = by_split(
            tmp_path,
            rows,
            str(fraction),
            split={**split, "validate_fraction": fraction},
        )
        ordered = sorted(rows, key=lambda row: (row[2], row[0], row[1]))
        pairs = [(str(u), str(i)) for u, i, _, _ in ordered]
        cut = 400 - 132  # 0.33 * 400
        held = int(cut * fraction + 0.5)
        assert found["eval"] == sorted(pairs[cut:])
        assert found["validate"] == sorted(pairs[cut - held : cut])
        assert found["train"] == sorted(pairs[: cut - held])


def test_manifest_holds_the_validation_split(tmp_path):
    out = str(tmp_path / "out")
    split = {"by": "hash", "columns": ["user"], "validate_fraction": 0.2}
    manifest = ingest([log(tmp_path / "log.csv", many())], dataset(split=split), out)

    assert list(manifest.splits) == ["train", "validate", "eval"]
    assert sum(one.rows for one in manifest.splits.values()) == 500
    assert manifest.splits["validate"].rows == len(rows_of(out, "validate"))
    assert len(manifest.splits["validate"].shards) == 2
    assert [fault for _, fault in verify_manifest(out) if fault] == []


def test_bad_rows_are_refused_by_name(tmp_path):
    path = log(tmp_path / "log.csv", [*many(20), ("u1", 5, "soon", 1)])
    with pytest.raises(DataError, match=r"log\.csv: line 22: column 't'.*got 'soon'"):
        ingest([path], dataset(), str(tmp_path / "out"))


def test_bad_rows_are_put_aside_and_counted(tmp_path):
    path = log(tmp_path / "log.csv", [*many(300), ("", 5, 7, 1), ("u1", 5)])
    out = str(tmp_path / "out")
    manifest = ingest([path], dataset(on_bad_row="quarantine"), out)
    assert (manifest.rows_read, manifest.rows_quarantined) == (302, 2)
    lines = Path(out, "quarantine.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert [(e["place"], e["column"]) for e in entries] == [("line 302", "user"), ("line 303", "")]  # fmt: skip
    strict = dataset(on_bad_row="quarantine", max_bad_fraction=0.001)
    with pytest.raises(DataError, match=r"2 of 302 rows are bad"):
        ingest([path], strict, str(tmp_path / "other"))


def test_an_empty_split_is_refused(tmp_path):
    path = log(tmp_path / "log.csv", [("u", 1, 5, 0), ("v", 2, 6, 1)])
    split = {"by": "time", "eval_days": 1}
    with pytest.raises(
        DataError, match=r"train split has none of 2 rows.*too few days"
    ):
        ingest([path], dataset(split=split), str(tmp_path / "out"))


def test_no_rows(tmp_path):
    path = log(tmp_path / "log.csv", [])
    with pytest.raises(DataError, match="no rows"):
        ingest([path], dataset(), str(tmp_path / "out"))


def test_local_runner_is_named_and_downloads_nothing(tmp_path, monkeypatch):
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    assert isinstance(local_pipeline().runner, FnApiRunner)
    asked = []
    real = socket.getaddrinfo

    def note(host, *rest, **named):
        if host not in {"localhost", "127.0.0.1", "::1", "", None}:
            asked.append(host)
        return real(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", note)
    ingest([log(tmp_path / "log.csv", many())], dataset(), str(tmp_path / "out"))
    assert asked == []


CELL = st.sampled_from(["u1", "2", "x", '"', "1", "0", "", "a,b", "\r", "\n"])


@pytest.mark.slow
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(CELL, min_size=1, max_size=5), max_size=12))
def test_rows_in_are_rows_out_and_rows_put_aside(tmp_path, cells):
    import shutil

    body = "\n".join(",".join(row) for row in cells)
    path = tmp_path / "log.csv"
    good = "\n".join(f"u{i},{i},{i},0" for i in range(30))
    path.write_text(f"user,item,t,click\n{good}\n{body}\n")
    out = tmp_path / "out"
    shutil.rmtree(out, ignore_errors=True)
    manifest = ingest(
        [str(path)], dataset(on_bad_row="quarantine", max_bad_fraction=1), str(out)
    )
    written = len(rows_of(out, "train")) + len(rows_of(out, "eval"))
    assert manifest.rows_read == written + manifest.rows_quarantined
    assert written >= 30


def good_bytes(folder, ending):
    """A good log in each format, as bytes."""
    import pyarrow as pa
    from pyarrow import parquet
    from tensorflow.core.example import example_pb2

    from data.records import frame_all

    path = folder / f"good{ending}"
    if ending == ".csv":
        log(path, many(30))
    elif ending == ".jsonl":
        lines = [
            json.dumps({"user": u, "item": i, "t": t, "click": c})
            for u, i, t, c in many(30)
        ]
        path.write_text("\n".join(lines))
    elif ending == ".parquet":
        columns = zip(*many(30), strict=True)
        names = ["user", "item", "t", "click"]
        parquet.write_table(
            pa.table(dict(zip(names, map(list, columns), strict=True))), path
        )
    else:
        rows = []
        for u, i, t, c in many(30):
            example = example_pb2.Example()
            features = example.features.feature
            features["user"].bytes_list.value.append(u.encode())
            for name, value in (("item", i), ("t", t), ("click", c)):
                features[name].int64_list.value.append(value)
            rows.append(example.SerializeToString())
        path.write_bytes(frame_all(rows))
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".tfrecord"])
@settings(
    max_examples=25,
    deadline=None,
    # Shrinking ingests again and again; the case itself is small.
    phases=[Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_bytes_are_refused_by_name_or_counted_row_by_row(tmp_path, ending, data):
    import shutil

    good = good_bytes(tmp_path, ending)
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 40)))
    body = good[:start] + data.draw(st.binary(max_size=40)) + good[end:]
    path = tmp_path / f"log{ending}"
    path.write_bytes(body)
    out = tmp_path / "out"
    shutil.rmtree(out, ignore_errors=True)
    settled = dataset(on_bad_row="quarantine", max_bad_fraction=1)
    try:
        manifest = ingest([str(path)], settled, str(out))
    except DataError:
        return  # Refused as a whole: nothing was written.
    written = len(rows_of(out, "train")) + len(rows_of(out, "eval"))
    assert manifest.rows_read == written + manifest.rows_quarantined
    assert all(fault is None for _, fault in verify_manifest(str(out)))

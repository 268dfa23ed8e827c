"""Columns that a log has and the declaration does not know."""

import gzip
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from data.dataset import Dataset
from data.errors import DataError
from data.readers.files import find_log
from data.readers.undeclared import undeclared
from data.records import frame_all


def dataset(**changes):
    content = {
        "keys": {"label": "click", "user_id": "user"},
        "split": {"by": "hash", "columns": ["session"]},
        "features": [{"kind": "categorical", "name": "item", "buckets": 10}],
    }
    return Dataset.model_validate({**content, **changes})


COLUMNS = {
    "click": [1, 0],
    "user": ["a", "b"],
    "session": ["s", "t"],
    "item": ["x", "y"],
    "position": [1, 2],
    "debug": ["", ""],
}


def write_csv(path):
    rows = zip(*COLUMNS.values(), strict=True)
    lines = [",".join(COLUMNS), *(",".join(map(str, row)) for row in rows)]
    path.with_suffix(".csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def write_jsonl(path):
    names = list(COLUMNS)
    # Only the second object has the key.
    rows = [
        dict(zip(names[:-1], [1, "a", "s", "x", 1], strict=True)),
        dict(zip(names, [0, "b", "t", "y", 2, ""], strict=True)),
    ]
    path.with_suffix(".jsonl").write_text("\n".join(map(json.dumps, rows)))


def write_parquet(path):
    parquet.write_table(pa.table(COLUMNS), path.with_suffix(".parquet"))


def write_tfrecord(path):
    from tensorflow.core.example import example_pb2

    example = example_pb2.Example()
    for name in COLUMNS:
        example.features.feature[name].bytes_list.value.append(b"1")
    path.with_suffix(".tfrecord").write_bytes(frame_all([example.SerializeToString()]))


@pytest.mark.parametrize(
    "write", [write_csv, write_jsonl, write_parquet, write_tfrecord]
)
def test_they_are_named_in_every_format(tmp_path, write):
    write(tmp_path / "log")
    declared = dataset()
    log = find_log([str(tmp_path)], declared)
    assert undeclared(log, declared) == ("debug", "position")
    assert undeclared(log, dataset(ignored=["debug"])) == ("position",)
    assert undeclared(log, dataset(carry=["debug", "position"])) == ()


def test_a_renamed_column_is_known_by_its_written_name(tmp_path):
    write_parquet(tmp_path / "log")
    declared = dataset(
        layouts=[{"rename": {"position": "place", "debug": "item"}}],
        features=[{"kind": "categorical", "name": "place", "buckets": 10}],
    )
    log = find_log([str(tmp_path)], declared)
    # The column named item is read by nothing now.
    assert undeclared(log, declared) == ("item",)


def test_a_damaged_first_file_is_one_line(tmp_path):
    (tmp_path / "log.parquet").write_bytes(b"PAR1" + b"\x00" * 40)
    declared = dataset()
    with pytest.raises(DataError, match=r"log\.parquet: cannot be read as Parquet"):
        undeclared(find_log([str(tmp_path)], declared), declared)

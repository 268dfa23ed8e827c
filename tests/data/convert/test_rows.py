"""A batch as typed columns: good rows kept in order, each bad one told."""

import numpy as np
import pyarrow as pa
import pytest

from data.convert.rows import RowConverter
from data.dataset import Dataset
from data.errors import DataError
from data.readers.batch import BadRow, RawBatch
from data.readers.log import wanted_columns

DATASET = Dataset.model_validate(
    {
        "keys": {
            "label": {"column": "rating", "at_least": 4},
            "user_id": "user",
            "weight": "w",
            "timestamp": "t",
            "request_id": "r",
        },
        "split": {"by": "hash", "columns": ["item"]},
        "features": [
            {"kind": "categorical", "name": "item", "buckets": 10},
            {
                "kind": "categorical",
                "name": "level",
                "encoding": "identity",
                "buckets": 9,
            },
            {"kind": "numeric", "name": "price"},
            {"kind": "sequence", "name": "hist", "buckets": 10, "max_length": 5},
            {"kind": "vector", "name": "image", "length": 2},
        ],
        "carry": ["note"],
    }
)
ROW = {
    "rating": b"4",
    "user": b"u1",
    "w": b"2",
    "t": b"100",
    "item": b"i",
    "level": b"3",
    "price": b"1.5",
    "hist": b"a|b",
    "image": b"1|2",
    "r": b"req",
    "note": b"n",
}


def convert(*changes):
    rows = [{**ROW, **change} for change in changes]
    names = wanted_columns(DATASET)
    arrays = [pa.array([row[name] for row in rows], pa.binary()) for name in names]
    batch = RawBatch(
        file="log.csv",
        unit="line",
        columns=pa.RecordBatch.from_arrays(arrays, list(names)),
        places=np.arange(2, 2 + len(rows)),
        bad=[
            BadRow(file="log.csv", number=99, place="line 99", column="", reason="cut")
        ],
    )
    return RowConverter(DATASET).convert(batch)


def test_types_of_every_kind():
    done = convert({})
    assert {
        name: column.to_pylist()[0]
        for name, column in zip(
            done.columns.schema.names, done.columns.columns, strict=True
        )
    } == {
        "label": 1,
        "user": b"u1",
        "w": 2.0,
        "t": 100,
        "item": b"i",
        "level": 3,
        "price": 1.5,
        "hist": [b"a", b"b"],
        "image": [1.0, 2.0],
        "r": b"req",
        "note": b"n",
    }
    assert done.split_keys["item"].to_pylist() == [b"i"]
    assert [str(row) for row in done.bad] == ["log.csv: line 99: cut"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user": b""}, "column 'user': required, but absent"),
        ({"rating": b""}, "column 'rating': required, but absent"),
        ({"w": b""}, "column 'w': required, but absent"),
        ({"w": b"-1"}, "column 'w': a weight must be >= 0"),
        ({"t": b"soon"}, "column 't': must be a time (ISO 8601), got 'soon'"),
        ({"price": b"cheap"}, "column 'price': must be a number, got 'cheap'"),
        ({"level": b"1.5"}, "column 'level': must be an integer of 64 bits, got '1.5'"),
        ({"image": b"1"}, "column 'image': must hold exactly 2 numbers"),
    ],
)
def test_rules_of_rows(change, message):
    done = convert({}, change, {})
    assert done.columns.num_rows == 2
    assert str(done.bad[0]) == f"log.csv: line 3: {message}"


def test_absent_features_are_no_fault():
    blank = dict.fromkeys(("item", "level", "price", "hist", "image", "r", "note"), b"")
    done = convert(blank)
    assert len(done.bad) == 1  # the one that came with the batch
    assert done.columns.column(done.columns.schema.get_field_index("price")).to_pylist() == [None]  # fmt: skip


def test_long_values_are_cut_in_messages():
    done = convert({"price": b"x" * 100})
    assert done.bad[0].reason == f"must be a number, got '{'x' * 24}...'"


def test_an_unfit_column_names_the_file():
    names = wanted_columns(DATASET)
    arrays = [
        pa.array([1.5]) if name == "user" else pa.array([ROW[name]]) for name in names
    ]
    batch = RawBatch(
        file="log.parquet",
        unit="row",
        columns=pa.RecordBatch.from_arrays(arrays, list(names)),
        places=np.array([0]),
    )
    with pytest.raises(DataError, match=r"log\.parquet: column 'user'.*never floats"):
        RowConverter(DATASET).convert(batch)

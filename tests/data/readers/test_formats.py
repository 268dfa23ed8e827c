"""JSON Lines, Parquet, TFRecord, and finding the files of a log."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.dataset import Dataset
from data.errors import DataError
from data.examples import encode
from data.readers.files import find_log, matches
from data.readers.jsonl import read_jsonl
from data.readers.objects import to_array
from data.readers.parquet import read_parquet
from data.readers.tfrecord import read_tfrecord
from data.records import frame_all
from tests.unreadable import make_unreadable


def dataset(**changes):
    content = {
        "keys": {"label": "click", "user_id": "user"},
        "split": {"by": "hash", "columns": ["user"]},
        "features": [{"kind": "categorical", "name": "item", "buckets": 10}],
    }
    return Dataset.model_validate({**content, **changes})


def test_json_rows_keep_lines_and_types(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1, "b": [1, 2]}\n\n{"a": 9007199254740993}\nnot json\n[1]\n')
    (batch,) = read_jsonl(str(path), ["a", "b"], "utf-8")
    assert batch.columns.column(0).to_pylist() == [1, 9007199254740993]
    assert batch.columns.column(1).to_pylist() == [[1, 2], None]
    assert batch.places.tolist() == [1, 3]
    assert [(row.place, row.reason) for row in batch.bad] == [
        ("line 4", "not a JSON object"),
        ("line 5", "not a JSON object"),
    ]


def test_json_objects_inside_are_bad(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"a": {"b": 1}}) + "\n")
    (batch,) = read_jsonl(str(path), ["a"], "utf-8")
    assert batch.bad[0].column == "a"


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, None, 2**63 - 1], pa.int64(), [1, None, 2**63 - 1]),
        ([1, 2**64 - 1], pa.binary(), [b"1", b"18446744073709551615"]),
        ([1, 2.5], pa.float64(), [1.0, 2.5]),
        ([1, "x"], pa.binary(), [b"1", b"x"]),
        ([True, False], pa.bool_(), [True, False]),
        ([[1], 2, None, []], pa.list_(pa.int64()), [[1], [2], None, []]),
    ],
)
def test_arrays_of_python_values(values, kind, expected):
    array = to_array(values)
    assert array.type == kind
    assert array.to_pylist() == expected


def test_parquet_rows_count_over_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("data.readers.parquet.BATCH_ROWS", 4)
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"a": np.arange(10), "b": ["x"] * 10}), path)
    batches = list(read_parquet(str(path), ["b", "a"]))
    assert [len(batch.places) for batch in batches] == [4, 4, 2]
    assert np.concatenate([b.places for b in batches]).tolist() == list(range(10))
    assert batches[0].columns.schema.names == ["b", "a"]


def test_cut_parquet_is_named(tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"log\.parquet: cannot be read as Parquet"):
        list(read_parquet(str(path), ["a"]))


def examples(n):
    batch = pa.RecordBatch.from_arrays(
        [pa.array([f"u{i}" for i in range(n)]), pa.array(range(n))], ["user", "x"]
    )
    return encode(batch)


def test_tfrecord_rows_damage_and_place(tmp_path):
    data = bytearray(frame_all([*examples(2), b"", b"\xff\xff", *examples(1)]))
    path = tmp_path / "log.tfrecord"
    path.write_bytes(bytes(data) + b"tail")
    (batch,) = read_tfrecord(str(path), ["user", "x", "none"])
    assert batch.columns.column(0).to_pylist() == [[b"u0"], [b"u1"], [b"u0"]]
    assert all(not values for values in batch.columns.column(2).to_pylist())
    assert batch.places.tolist() == [0, 1, 4]
    assert [row.reason for row in batch.bad] == [
        "a record of no bytes",
        "not a tf.Example",
        "cut after 4 bytes; the rest of the file cannot be read",
    ]
    assert batch.bad[0].place == f"record 2 at offset {2 * (len(examples(1)[0]) + 16)}"


def test_regular_and_irregular_examples_parse_alike(tmp_path):
    from tensorflow.core.example import example_pb2

    odd = example_pb2.Example()
    odd.features.feature["x"].bytes_list.value.append(b"text")
    odd.features.feature["user"].SetInParent()
    regular = tmp_path / "a.tfrecord"
    regular.write_bytes(frame_all(examples(100)))
    mixed = tmp_path / "b.tfrecord"
    mixed.write_bytes(frame_all([*examples(100), odd.SerializeToString()]))
    (first,) = read_tfrecord(str(regular), ["user", "x", "none"])
    (second,) = read_tfrecord(str(mixed), ["user", "x", "none"])
    for name, kind in (("user", pa.list_(pa.binary())), ("x", pa.list_(pa.int64()))):
        column = first.columns.column(first.columns.schema.get_field_index(name))
        assert column.type == kind
    users = second.columns.column(0).to_pylist()
    assert users == [*first.columns.column(0).to_pylist(), None]
    assert second.columns.column(1).to_pylist()[98:] == [[b"98"], [b"99"], [b"text"]]


def example(**lists):
    """A serialized tf.Example of values by the name of their list."""
    from tensorflow.core.example import example_pb2

    built = example_pb2.Example()
    for kind, values in lists.items():
        held = getattr(built.features.feature["x"], kind)
        held.SetInParent()  # an empty list is one, too
        held.value.extend(values)
    return built.SerializeToString()


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
@pytest.mark.parametrize("rows_before", [0, 100])
def test_one_feature_holds_floats_or_bytes(
    tmp_path, monkeypatch, batch_rows, rows_before
):
    monkeypatch.setattr("data.readers.tfrecord.BATCH_ROWS", batch_rows)
    text, number = example(bytes_list=[b"u1"]), example(float_list=[1.5])
    # Rows without a value say nothing of its kind; integers have one spelling.
    before = [example(float_list=[]), example(int64_list=[])] * (rows_before // 2)
    rows = [*before, text, number, example(int64_list=[7]), text]
    path = tmp_path / "log.tfrecord"
    path.write_bytes(frame_all(rows))
    batches = list(read_tfrecord(str(path), ["x"]))
    kept = [str(v[0]) for b in batches for v in b.columns.column(0).to_pylist() if v]
    assert [value.strip("b'") for value in kept] == ["u1", "7", "u1"]
    (bad,) = [row for batch in batches for row in batch.bad]
    assert (bad.number, bad.column) == (rows_before + 1, "x")
    assert bad.reason == "float_list in a column of bytes_list; write all alike"
    places = np.concatenate([batch.places for batch in batches]).tolist()
    assert places == [n for n in range(rows_before + 4) if n != rows_before + 1]

    path.write_bytes(frame_all([number, text, number]))
    batches = list(read_tfrecord(str(path), ["x"]))
    (bad,) = [row for batch in batches for row in batch.bad]
    assert bad.number == 1
    assert bad.reason == "bytes_list in a column of float_list; write all alike"


def test_a_pipe_among_the_files_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("x")
    os.mkfifo(tmp_path / "b.csv")
    with pytest.raises(DataError, match=r"b\.csv: must be a regular file, is a named"):
        find_log([str(tmp_path)], dataset())


def test_files_below_a_folder_with_notices(tmp_path):
    for name, content in {
        "day=1/a.csv": "x",
        "day=2/b.csv": "x",
        "_SUCCESS": "",
        "_temporary/0/c.csv": "x",
        ".d.csv.crc": "x",
        "empty.csv": "",
        "placeholder": "placeholder",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    log = find_log([str(tmp_path)], dataset())
    assert [file.path[len(str(tmp_path)) :] for file in log.files] == [
        "/day=1/a.csv",
        "/day=2/b.csv",
    ]
    assert [file.index for file in log.files] == [0, 1]
    text = " ".join(log.notices)
    assert "skipped 3 hidden or temporary files" in text
    assert "empty.csv: 0 bytes" in text
    assert "placeholder: neither its name" in text


def test_first_layout_whose_files_exist(tmp_path):
    (tmp_path / "b.tsv").write_text("x")
    layouts = [{"name": "one", "files": ["a.csv"]}, {"name": "two", "files": ["*.tsv"]}]
    log = find_log([str(tmp_path)], dataset(layouts=layouts))
    assert log.layout.name == "two"
    (tmp_path / "b.tsv").rename(tmp_path / "c.txt")
    with pytest.raises(DataError, match=r"one: a\.csv; two: \*\.tsv"):
        find_log([str(tmp_path)], dataset(layouts=layouts))


def test_magic_bytes_go_before_the_name(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.csv")
    (tmp_path / "b").write_bytes(frame_all(examples(1)))
    log = find_log([str(tmp_path)], dataset())
    assert [file.format for file in log.files] == ["parquet", "tfrecord"]


def test_given_split_by_file(tmp_path):
    for name in ("train_1.csv", "test.csv", "valid.csv", "other.csv"):
        (tmp_path / name).write_text("x")
    split = {"by": "given", "train": "train*.csv", "eval": "test.csv"}
    log = find_log([str(tmp_path)], dataset(split=split))
    assert {f.path.rsplit("/", 1)[1]: f.split for f in log.files} == {
        "test.csv": "eval",
        "train_1.csv": "train",
    }
    assert log.notices == (
        "skipped other.csv: in no given split",
        "skipped valid.csv: in no given split",
    )
    split["validation"] = "valid.csv"
    log = find_log([str(tmp_path)], dataset(split=split))
    assert {f.path.rsplit("/", 1)[1]: f.split for f in log.files} == {
        "test.csv": "eval",
        "train_1.csv": "train",
        "valid.csv": "validate",
    }


def test_inputs_that_do_not_exist(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        find_log([str(tmp_path / "none")], dataset())


@pytest.mark.parametrize("pattern", ["", "/*/*.csv", "/b/a.csv"])
def test_a_folder_that_cannot_be_read_is_not_lost(tmp_path, monkeypatch, pattern):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("x")
    make_unreadable(monkeypatch, tmp_path / "b")
    with pytest.raises(PermissionError, match=f"{tmp_path}/b"):
        find_log([f"{tmp_path}{pattern}"], dataset())


def test_patterns_with_and_without_folders():
    assert matches("a/b/c.csv", "*.csv")
    assert not matches("a/b/c.csv", "b/*.csv")
    assert matches("a/c.csv", "a/*.csv")

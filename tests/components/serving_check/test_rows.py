"""Rows are taken from all shards in turns, and only raw ones."""

import gzip

import pytest

from components.serving_check.rows import first_rows, shard_files
from data.errors import DataError
from data.records import frame_all
from tests.components.serving_check.conftest import example


def rows_of(item, count):
    return [example({"item": [b"%s%d" % (item, number)]}) for number in range(count)]


@pytest.fixture
def shards(tmp_path):
    """Two shards of one and of three rows, one of them compressed."""
    (tmp_path / "b.gz").write_bytes(gzip.compress(frame_all(rows_of(b"b", 3))))
    (tmp_path / "a").write_bytes(frame_all(rows_of(b"a", 1)))
    (tmp_path / "_writing").mkdir()
    (tmp_path / "_writing" / "c").write_bytes(b"x")
    return tmp_path


def test_shards_take_turns_in_the_order_of_their_names(shards):
    files = shard_files(str(shards))
    assert files == [f"{shards}/a", f"{shards}/b.gz"]
    (a,), b = rows_of(b"a", 1), rows_of(b"b", 3)
    assert first_rows(files, 3) == [a, *b[:2]]
    assert first_rows(files, 99) == [a, *b]


def test_a_file_is_one_shard(shards):
    assert shard_files(f"{shards}/a") == [f"{shards}/a"]


def test_no_rows_are_refused(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(DataError, match="no rows in the shards"):
        first_rows([str(tmp_path / "empty")], 1)
    with pytest.raises(DataError, match="no rows in the shards"):
        first_rows([], 1)


def test_what_is_no_raw_row_is_refused_by_its_place(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frame_all([*rows_of(b"a", 1), b"\xff\xff"]))
    with pytest.raises(DataError, match=r"a: record 1 \(from 0\) is no tf.Example"):
        first_rows([str(path)], 5)
    path.write_bytes(frame_all(rows_of(b"a", 2))[:-1])
    with pytest.raises(DataError, match=r"record 1 .* cut"):
        first_rows([str(path)], 5)

"""Parquet files: how values are stored does not matter, and damage is one line."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.errors import DataError
from data.readers.parquet import parquet_names, read_parquet


def read_all(path):
    return list(read_parquet(path, None))


def test_names_stand_in_their_order(tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"b": [1], "a": [2]}), path)
    assert parquet_names(str(path)) == ["b", "a"]


@pytest.mark.parametrize("read", [parquet_names, read_all])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PAR1" + b"\x00" * 40, "cannot be read as Parquet"),
        (b"PAR1", "cannot be read as Parquet"),
        (b"PARE" + b"\x01" * 40 + b"PARE", "encrypted Parquet"),
    ],
)
def test_a_damaged_file_is_named_by_every_reader(tmp_path, read, content, reason):
    path = tmp_path / "log.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"log\.parquet: {reason}") as caught:
        read(str(path))
    assert str(caught.value).isprintable()


def test_control_characters_of_the_reason_are_escaped(tmp_path, monkeypatch):
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1")

    def fail(_):
        raise pa.ArrowInvalid("bad \x1b[31m footer\nmore")

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", fail)
    with pytest.raises(DataError, match=r"bad \\x1b\[31m footer$"):
        parquet_names(str(path))


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["2026-01-01T00:00:00Z", None, "2026-01-01T00:00:00Z"]),
        pa.array([1767225600, None, 1767225600], pa.timestamp("s")),
        pa.array([7, None, 7]),
        pa.array([0.5, None, 0.5]),
    ],
)
def test_values_stored_as_a_dictionary_read_like_plain_ones(tmp_path, values):
    path = tmp_path / "log.parquet"
    table = pa.table({"plain": values, "coded": values.dictionary_encode()})
    pq.write_table(table, path)
    (batch,) = read_parquet(str(path), ["plain", "coded"])
    assert batch.columns.column(1).equals(batch.columns.column(0))

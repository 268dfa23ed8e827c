"""JSON Lines: what one column cannot hold together, odd bytes, endless lines."""

import json
import math

import pytest

from data.errors import DataError
from data.readers.jsonl import read_jsonl
from data.readers.objects import to_array


def read(tmp_path, values, name="a"):
    """Values and bad rows of a column; lines count from 1."""
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({name: value}) + "\n" for value in values))
    batches = list(read_jsonl(str(path), [name], "utf-8"))
    kept = [v for batch in batches for v in batch.columns.column(0).to_pylist()]
    bad = {row.number: row for batch in batches for row in batch.bad}
    return kept, bad


@pytest.mark.parametrize("block", [1, 30, 4 << 20])
def test_a_list_among_texts_is_bad_wherever_blocks_end(tmp_path, monkeypatch, block):
    monkeypatch.setattr("data.readers.blocks.BLOCK_BYTES", block)
    monkeypatch.setattr("data.shards.CHUNK_BYTES", block)
    kept, bad = read(tmp_path, ["1|2|3", "4|5", [7, 8], "6"])
    assert kept == [b"1|2|3", b"4|5", b"6"]
    assert list(bad) == [3]
    assert bad[3].column == "a"
    assert bad[3].reason == ("a list in a column that holds a text; write all alike")


def test_a_text_among_lists_is_bad_and_a_number_is_a_list_of_one(tmp_path):
    kept, bad = read(tmp_path, [[7, 8], "1|2", 9, "", None])
    # An empty text is an absent value.
    assert kept == [[7, 8], [9], None, None]
    assert list(bad) == [2]


@pytest.mark.parametrize(
    "odd", [float("nan"), 9007199254740992.0, 1e20, [1.5], ["x", 1.5]]
)
def test_a_float_among_texts_is_bad(tmp_path, odd):
    kept, bad = read(tmp_path, ["u1", odd, 7, True])
    # Integers and bools have one spelling.
    assert kept == [b"u1", b"7", b"1"]
    assert list(bad) == [2]


def test_a_float_in_a_list_of_texts_is_bad(tmp_path):
    kept, bad = read(tmp_path, [["x", 1], ["y", 2.5], [2.5]])
    assert kept == [[b"x", b"1"]]
    assert list(bad) == [2, 3]


def test_floats_stay_numbers_beside_integers_bools_and_empty_texts(tmp_path):
    kept, bad = read(tmp_path, [1.5, 2, True, "", None])
    assert kept == [1.5, 2.0, 1.0, None, None]
    assert bad == {}


def test_a_bad_row_sets_no_kind(tmp_path):
    path = tmp_path / "log.jsonl"
    rows = [{"a": [1], "b": {}}, {"a": "x", "b": 1}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (batch,) = read_jsonl(str(path), ["a", "b"], "utf-8")
    assert batch.columns.column(0).to_pylist() == [b"x"]
    assert [row.number for row in batch.bad] == [1]


def test_ids_that_are_not_utf8_keep_their_bytes(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a": "sek\xff\xfe"}\n{"a": "\xc3\xa9"}\n{"a": "\\ud800"}\n')
    (batch,) = read_jsonl(str(path), ["a"], "utf-8")
    # A lone surrogate escape is no byte; its three-byte form is U+D800's by RFC 3629's
    # scheme: 1110_1101 10_100000 10_000000.
    assert batch.columns.column(0).to_pylist() == [
        b"sek\xff\xfe",
        b"\xc3\xa9",
        b"\xed\xa0\x80",
    ]


def test_a_file_without_line_ends_is_not_held_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("data.readers.delimited.MAX_LINE_BYTES", 100)
    monkeypatch.setattr("data.readers.blocks.BLOCK_BYTES", 40)
    monkeypatch.setattr("data.shards.CHUNK_BYTES", 40)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"{}\n" + b"a" * 1_000)
    # Three blocks of 40 bytes, less the first line, are 117.
    with pytest.raises(DataError, match="line 2: no line end in 117 bytes"):
        list(read_jsonl(str(path), ["a"], "utf-8"))


def test_bools_and_integers_of_any_size_join_floats():
    values = [True, 2.5, None, 10**400, -(10**400)]
    assert to_array(values).to_pylist() == [1.0, 2.5, None, math.inf, -math.inf]

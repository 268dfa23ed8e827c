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
    kept, bad = read(tmp_path, ["u1", odd, 7])
    # Integers have one spelling.
    assert kept == [b"u1", b"7"]
    assert list(bad) == [2]


def test_a_float_in_a_list_of_texts_is_bad(tmp_path):
    kept, bad = read(tmp_path, [["x", 1], ["y", 2.5], [2.5]])
    assert kept == [[b"x", b"1"]]
    assert list(bad) == [2, 3]


def test_floats_stay_numbers_beside_integers_and_empty_texts(tmp_path):
    kept, bad = read(tmp_path, [1.5, 2, "", None])
    assert kept == [1.5, 2.0, None, None]
    assert bad == {}


@pytest.mark.parametrize("block", [1, 4 << 20])
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1_700_000_000, "an integer"),
        (1.5, "a float"),
        ("u1", "a text"),
        (["u1"], "a list of texts"),
        ([1], "an integer"),
    ],
)
def test_a_bool_is_no_number_and_no_text(tmp_path, monkeypatch, block, value, kind):
    monkeypatch.setattr("data.readers.blocks.BLOCK_BYTES", block)
    monkeypatch.setattr("data.shards.CHUNK_BYTES", block)
    _, bad = read(tmp_path, [value, True, value])
    assert list(bad) == [2]
    assert bad[2].reason == f"a bool in a column that holds {kind}; write all alike"
    kept, bad = read(tmp_path, [True, value, False])
    assert kept == [True, False]
    assert list(bad) == [2]


def test_a_key_given_twice_makes_a_bad_row(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"a": 1, "b": 2}\n'
        '{"a": 1, "a": 2}\n'
        '{"a": 1, "c\\n": 2, "c\\n": 2}\n'
        '{"a": {"x": 1, "x": 2}}\n'
        '{"a": 3, "unread": {"x": 1, "x": 2}}\n'
    )
    (batch,) = read_jsonl(str(path), ["a"], "utf-8")
    assert batch.columns.column(0).to_pylist() == [1, 3]
    assert [(row.number, row.column, row.reason) for row in batch.bad] == [
        (2, "", "duplicate key, got 'a'"),
        (3, "", "duplicate key, got 'c\n'"),
        (4, "a", "an object or nested list; expected a value or a list"),
    ]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_text_of_wide_letters_is_named(tmp_path, encoding, mark):
    path = tmp_path / "log.jsonl"
    path.write_bytes((mark + '{"a": 1}\n').encode(encoding))
    name = encoding[:6] if mark else encoding
    with pytest.raises(DataError, match=f"{name.upper()} text.*encoding: {name}, or"):
        list(read_jsonl(str(path), ["a"], "utf-8"))
    (batch,) = read_jsonl(str(path), ["a"], name)
    assert batch.columns.column(0).to_pylist() == [1]


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


def test_integers_of_any_size_join_floats():
    values = [1, 2.5, None, 10**400, -(10**400)]
    assert to_array(values).to_pylist() == [1.0, 2.5, None, math.inf, -math.inf]

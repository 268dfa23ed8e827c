"""Delimited text: every row at its line, no cell changed, no column shifted."""

import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import DataError
from data.readers import delimited
from data.readers.delimited import Dialect, read_delimited
from data.readers.split_fields import split_rows


def read(path, wanted=None, dialect=None):
    columns, lines, bad = {}, [], []
    for batch in read_delimited(str(path), dialect or Dialect(), wanted):
        for name, column in zip(
            batch.columns.schema.names, batch.columns.columns, strict=True
        ):
            columns.setdefault(name, []).extend(column.to_pylist())
        lines += batch.places.tolist()
        bad += [(row.place, row.reason) for row in batch.bad]
    return columns, lines, bad


def file(tmp_path, content, name="log.csv"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_cells_are_the_bytes_written(tmp_path):
    path = file(tmp_path, b"a,b\n007,NULL\n1e20,\xff\x00\n ,\n")
    columns, lines, bad = read(path)
    assert columns == {"a": [b"007", b"1e20", b" "], "b": [b"NULL", b"\xff\x00", b""]}
    assert lines == [2, 3, 4]
    assert bad == []


def test_only_wanted_columns_in_the_wanted_order(tmp_path):
    path = file(tmp_path, b"a,b,c\n1,2,3\n")
    assert list(read(path, ["c", "a"])[0]) == ["c", "a"]


def test_short_and_long_rows_are_bad_and_shift_nothing(tmp_path):
    path = file(tmp_path, b"a,b\n1,2\n3\n4,5,6\n7,8")
    columns, lines, bad = read(path)
    assert columns["b"] == [b"2", b"8"]
    assert lines == [2, 5]
    assert bad == [
        ("line 3", "1 fields found, 2 expected"),
        ("line 4", "3 fields found, 2 expected"),
    ]


def test_quotes_delimiters_and_newlines_inside_fields(tmp_path):
    path = file(tmp_path, b'a,b\r\n"x,1","say ""hi"""\r\n"two\nlines",2\r\n5" tv,\r\n')
    columns, lines, bad = read(path)
    assert columns["a"] == [b"x,1", b"two\nlines", b'5" tv']
    assert columns["b"] == [b'say "hi"', b"2", b""]
    assert lines == [2, 3, 5]
    assert bad == []


def test_an_open_quote_costs_one_row(tmp_path):
    path = file(tmp_path, b'a,b\n1,"open\n2,x\n"3"y,z\n4,w\n')
    columns, _, bad = read(path)
    assert columns["a"] == [b"2", b"4"]
    assert [place for place, _ in bad] == ["line 2", "line 4"]


def test_quotes_are_text_where_the_dialect_says_so(tmp_path):
    path = file(tmp_path, b'a\tb\n"x\t"\n', "log.tsv")
    columns, _, bad = read(path, dialect=Dialect(delimiter="\t", quoting=False))
    assert columns == {"a": [b'"x'], "b": [b'"']}
    assert bad == []


def test_blank_lines_are_no_rows_and_lines_still_count(tmp_path):
    path = file(tmp_path, b"a,b\n\n1,2\n\r\n3,4\n\n")
    assert read(path)[1] == [3, 5]


def test_stray_carriage_return_is_bad(tmp_path):
    path = file(tmp_path, b"a,b\r\n1,2\r\n3,4\r5,6\r\n7,8\r\n")
    columns, _, bad = read(path)
    assert columns["a"] == [b"1", b"7"]
    assert bad == [("line 3", "a carriage return inside the row")]


@pytest.mark.parametrize("block", [1, 5, 64])
def test_blocks_cut_anywhere(tmp_path, monkeypatch, block):
    content = b'a,b\n1,"x\ny"\n2,z\n3,"q""q"\n4\n5,t'
    whole = read(file(tmp_path, content))
    monkeypatch.setattr("data.readers.blocks.BLOCK_BYTES", block)
    monkeypatch.setattr("data.shards.CHUNK_BYTES", block)
    assert read(file(tmp_path, content)) == whole
    assert whole[1] == [2, 4, 5, 7]


def test_gzip_bom_and_other_encodings(tmp_path):
    text = "id,name\n1,é\n"
    expected = {"id": [b"1"], "name": ["é".encode()]}
    assert read(file(tmp_path, gzip.compress(text.encode()), "a.gz"))[0] == expected
    assert read(file(tmp_path, text.encode("utf-8-sig")))[0] == expected
    for encoding in ("latin-1", "utf-16"):
        path = file(tmp_path, text.encode(encoding))
        assert read(path, dialect=Dialect(encoding=encoding))[0] == expected


def test_wrong_encodings_are_named(tmp_path):
    path = file(tmp_path, "a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(DataError, match="declare encoding: utf-16"):
        read(path)
    with pytest.raises(DataError, match="not ascii"):
        read(file(tmp_path, "é,b\n".encode()), dialect=Dialect(encoding="ascii"))
    with pytest.raises(DataError, match="unknown encoding 'latin-15x'"):
        read(path, dialect=Dialect(encoding="latin-15x"))


def test_typed_and_declared_headers(tmp_path):
    path = file(tmp_path, b"user:token\tx:float\n1\t2\n")
    dialect = Dialect(delimiter="\t", typed_header=True)
    assert list(read(path, dialect=dialect)[0]) == ["user", "x"]
    bare = file(tmp_path, b"1,2\n")
    columns, lines, _ = read(bare, dialect=Dialect(header=("a", "b")))
    assert columns == {"a": [b"1"], "b": [b"2"]}
    assert lines == [1]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"user,click,click\n1,1,1\n", "column 'click' twice"),
        (b"user, click \n1,1\n", "no column 'click'.*Did you mean ' click '"),
        (b"u81,1\nu82,0\n", "line 1 names none of the columns wanted"),
        (
            b"user;click\n1;0\n",
            r"holds ';': declare data.layouts: \[\{delimiter: \";\"\}\], and header",
        ),
    ],
)
def test_header_faults(tmp_path, header, message):
    with pytest.raises(DataError, match=message) as caught:
        read(file(tmp_path, header), ["user", "click"])
    # What stands there may be a user id.
    assert "u81" not in str(caught.value).split("log.csv")[1]


def test_empty_file_and_header_alone_have_no_rows(tmp_path):
    assert read(file(tmp_path, b""), ["a"]) == ({}, [], [])
    assert read(file(tmp_path, b"a,b\n"), ["a"]) == ({}, [], [])


ODD = st.lists(
    st.sampled_from([b"a", b",", b'"', b"\n", b"\r\n", b"\r", b"1", b" ", b"\xff"]),
    max_size=40,
).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(ODD)
def test_fast_parser_agrees_with_the_plain_one(body):
    names = ["x", "y"]
    fast = delimited._parse_fast(body, names, names, Dialect(), 1)
    if fast is None:
        return
    table, lines, bad = fast
    rows = split_rows(
        body, delimiter=b",", quoting=True, width=2, first_line=1, final=True
    )
    fields = list(zip(*[c.to_pylist() for c in table.columns], strict=True))
    assert fields == [tuple(row) for row in rows.fields]
    assert lines.tolist() == rows.lines
    assert bad == rows.bad


@settings(max_examples=200, deadline=None)
@given(ODD)
def test_every_line_is_a_row_a_bad_row_or_part_of_a_quoted_one(body):
    rows = split_rows(
        body, delimiter=b",", quoting=True, width=2, first_line=1, final=True
    )
    assert rows.consumed == len(body)
    without_quotes = body.replace(b'"', b"")
    plain = split_rows(
        without_quotes, delimiter=b",", quoting=True, width=2, first_line=1, final=True
    )
    lines = [
        line
        for line in io.BytesIO(without_quotes).read().split(b"\n")
        if line.removesuffix(b"\r")
    ]
    assert len(plain.fields) + len(plain.bad) == len(lines)


def test_a_header_without_line_end_is_not_held_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "MAX_LINE_BYTES", 100)
    monkeypatch.setattr("data.readers.blocks.BLOCK_BYTES", 40)
    monkeypatch.setattr("data.shards.CHUNK_BYTES", 40)
    with pytest.raises(DataError, match="line 1: no line end in 120 bytes"):
        read(file(tmp_path, b"a" * 1_000))


def test_utf16_without_a_byte_order_mark_is_named(tmp_path):
    path = file(tmp_path, "a,b\n1,2\n".encode("utf-16-le"))
    with pytest.raises(DataError, match="declare encoding: utf-16-le"):
        read(path, ["a"])
    assert read(path, ["a"], Dialect(encoding="utf-16-le"))[0] == {"a": [b"1"]}


def test_utf16_is_named_without_a_header_line_and_with_other_letters_first(tmp_path):
    bare = Dialect(header=("a", "b"))
    with pytest.raises(DataError, match="declare encoding: utf-16-be"):
        read(file(tmp_path, "1,2\n".encode("utf-16-be")), dialect=bare)
    # No NUL among its first bytes.
    path = file(tmp_path, "用户,标签\n1,2\n".encode("utf-16-le"))
    with pytest.raises(DataError, match="declare encoding: utf-16-le"):
        read(path)

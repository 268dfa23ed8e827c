"""CSV, TSV and other delimited text as batches of binary columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv

from data.arrays import Ints
from data.errors import DataError
from data.readers.batch import BadRow, RawBatch
from data.readers.blocks import BLOCK_BYTES, text_blocks
from data.readers.header import read_header
from data.readers.split_fields import Rows, split_rows

_STRAY_RETURN = re.compile(rb"\r(?!\n)")
# Past any row; a file of other content has no line ends at all.
MAX_LINE_BYTES = 64 << 20
_QUOTE_BYTE = ord('"')


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a delimited file is written.

    Attributes:
        delimiter: one character.
        encoding: of the text.
        quoting: whether fields may stand in double quotes.
        typed_header: header cells are ``name:type``.
        header: names of the columns of a file without a header line.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    quoting: bool = True
    typed_header: bool = False
    header: tuple[str, ...] | None = None


def read_delimited(
    file: str, dialect: Dialect, wanted: Sequence[str] | None
) -> Iterator[RawBatch]:
    """Reads a delimited file; every cell as the bytes written.

    Args:
        file: path, plain or GZIP.
        dialect: how it is written.
        wanted: columns to keep; all if None.

    Yields:
        One batch a block of the file; rows with too few or too many fields are bad.

    Raises:
        DataError: the header lacks a wanted column, the file cannot be decoded or has
            no line ends.
    """
    blocks = text_blocks(file, dialect.encoding)
    pending = b""
    names: Sequence[str] | None = dialect.header
    line = 1
    for block, final in _with_last(blocks):
        data = pending + block
        if names is None:
            if b"\0" in data[: data.find(b"\n")]:
                raise DataError(
                    f"{file}: line 1: NUL bytes in the header; for UTF-16 without a "
                    "byte order mark declare encoding: utf-16-le or utf-16-be"
                )
            header = read_header(data, file, dialect, wanted, final)
            if header is None:
                check_line_length(file, line, len(data))
                pending = data
                continue
            names, used, line = header
            data = data[used:]
        whole = data if final else data[: data.rfind(b"\n") + 1]
        if not whole:
            check_line_length(file, line, len(data))
        columns = list(names) if wanted is None else list(wanted)
        batch, used, line = _parse(
            whole, names, columns, dialect, first_line=line, final=final, file=file
        )
        pending = data[used:]
        if batch.rows:
            yield batch


def check_line_length(file: str, line: int, length: int) -> None:
    """Stops before a file without line ends is held in memory as a whole.

    Args:
        file: its path.
        line: number of the unfinished line.
        length: its bytes so far.

    Raises:
        DataError: they are more than ``MAX_LINE_BYTES``.
    """
    if length > MAX_LINE_BYTES:
        raise DataError(
            f"{file}: line {line}: no line end in {length} bytes; is it text?"
        )


def _with_last(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each block, and whether it is the last one; an empty file has one empty block."""
    before = next(blocks, b"")
    for block in blocks:
        yield before, False
        before = block
    yield before, True


def _parse(
    data: bytes,
    names: Sequence[str],
    columns: list[str],
    dialect: Dialect,
    *,
    first_line: int,
    final: bool,
    file: str,
) -> tuple[RawBatch, int, int]:
    """One block as a batch, the bytes used, and the number of the next line."""
    delimiter = dialect.delimiter.encode()
    fast = _parse_fast(data, names, columns, dialect, first_line)
    if fast is not None:
        table, places, bad = fast
        used, next_line = len(data), first_line + len(places) + len(bad)
    else:
        rows = split_rows(
            data,
            delimiter=delimiter,
            quoting=dialect.quoting,
            width=len(names),
            first_line=first_line,
            final=final,
        )
        table, bad = _table(rows, names, columns), rows.bad
        places = np.asarray(rows.lines, np.int64)
        used, next_line = rows.consumed, rows.next_line
    batch = RawBatch(
        file=file,
        unit="line",
        columns=table,
        places=places,
        bad=[
            BadRow(
                file=file,
                number=number,
                place=f"line {number}",
                column="",
                reason=reason,
            )
            for number, reason in bad
        ],
    )
    return batch, used, next_line


def _parse_fast(
    data: bytes,
    names: Sequence[str],
    columns: list[str],
    dialect: Dialect,
    first_line: int,
) -> tuple[pa.RecordBatch, Ints, list[tuple[int, str]]] | None:
    """A block by Arrow's parser, or None if row and line numbers may not agree.

    Arrow is lenient about quotes and skips blank lines, so it is trusted only with
    text that has neither odd quotes nor more lines than rows.
    """
    if not data or _STRAY_RETURN.search(data):
        return None
    if dialect.quoting and not _quotes_are_regular(data, dialect.delimiter):
        return None
    bad: list[tuple[int, str]] = []

    def skip(row: "pyarrow.csv.InvalidRow") -> str:
        found, expected = row.actual_columns, row.expected_columns
        line = first_line + row.number - 1
        bad.append((line, f"{found} fields found, {expected} expected"))
        return "skip"

    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            read_options=pyarrow.csv.ReadOptions(
                use_threads=False,
                block_size=max(len(data) + 1, BLOCK_BYTES),
                column_names=list(names),
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if dialect.quoting else False,
                newlines_in_values=dialect.quoting,
                invalid_row_handler=skip,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                check_utf8=False,
                column_types={name: pa.binary() for name in names},
                include_columns=columns,
            ),
        )
    except pa.ArrowInvalid:
        return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if table.num_rows + len(bad) != lines:
        return None
    numbers = np.arange(first_line, first_line + lines, dtype=np.int64)
    if bad:
        numbers = np.setdiff1d(numbers, [line for line, _ in bad], assume_unique=True)
    combined = table.combine_chunks()
    # By position: a header may hold a name twice that nobody wants.
    arrays = [
        combined.column(index).chunk(0) if table.num_rows else pa.array([], pa.binary())
        for index in range(len(columns))
    ]
    return pa.RecordBatch.from_arrays(arrays, columns), numbers, bad


def _quotes_are_regular(data: bytes, delimiter: str) -> bool:
    """True if every quote opens, closes or escapes as RFC 4180 says.

    Quotes alternate between inside and outside: one met outside must follow a border
    (or the quote that it escapes), one met inside must precede a border (or a quote).
    """
    content = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(content == _QUOTE_BYTE)
    if len(quotes) == 0:
        return True
    if len(quotes) % 2:
        return False
    borders = np.array([ord(delimiter), 10, 13, _QUOTE_BYTE], np.uint8)
    opening, closing = quotes[0::2], quotes[1::2]
    before = content[opening[opening > 0] - 1]
    behind = content[closing[closing + 1 < len(content)] + 1]
    return bool(np.isin(before, borders).all() and np.isin(behind, borders).all())


def _table(rows: Rows, names: Sequence[str], columns: list[str]) -> pa.RecordBatch:
    """Rows that were split one by one, as columns."""
    by_name = dict(zip(names, zip(*rows.fields, strict=True), strict=False))
    arrays = [pa.array(by_name.get(name, ()), pa.binary()) for name in columns]
    return pa.RecordBatch.from_arrays(arrays, columns)

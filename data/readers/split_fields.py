"""Rows of delimited text split one by one: exact places, quotes, every odd case."""

from dataclasses import dataclass, field

QUOTE = b'"'
# A quoted field that has not closed by then never will.
MAX_ROW_BYTES = 1 << 20


@dataclass
class Rows:
    """What was found in a block.

    Attributes:
        fields: the fields of each good row.
        lines: number of the line on which each good row starts.
        bad: line and reason of each bad row.
        consumed: bytes of the block that were used.
        next_line: number of the line after them.
    """

    fields: list[list[bytes]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bad: list[tuple[int, str]] = field(default_factory=list)
    consumed: int = 0
    next_line: int = 1


def split_rows(
    data: bytes,
    *,
    delimiter: bytes,
    quoting: bool,
    width: int | None,
    first_line: int,
    final: bool,
    limit: int | None = None,
) -> Rows:
    """Splits a block into rows and fields, by RFC 4180.

    Blank lines are no rows. A quote inside an unquoted field stands for itself. After
    a bad row, splitting goes on with the very next line, so that one open quote costs
    one row and swallows no other.

    Args:
        data: the block.
        delimiter: one byte.
        quoting: whether fields may stand in quotes.
        width: fields that a row must have; any number if None.
        first_line: number of the block's first line.
        final: True if no more data follows.
        limit: stop after this many rows.

    Returns:
        The rows; bytes of an unfinished last row are left unconsumed.

    References:
        https://www.rfc-editor.org/rfc/rfc4180
    """
    rows = Rows(next_line=first_line)
    while rows.consumed < len(data):
        if limit is not None and len(rows.fields) + len(rows.bad) >= limit:
            break
        start = rows.consumed
        end = data.find(b"\n", start)
        if end < 0 and not final:
            break
        end = len(data) if end < 0 else end
        after, lines = end + 1, 1
        line = data[start:end].removesuffix(b"\r")
        reason = ""
        fields: list[bytes] = []
        if quoting and QUOTE in line:
            quoted = _split_quoted(data, start, delimiter, final)
            if quoted is None:
                break
            fields, after, reason = quoted
            lines = data.count(b"\n", start, after) or 1
        elif b"\r" in line:
            reason = "a carriage return inside the row"
        elif line:
            fields = line.split(delimiter)
        if fields and not reason and width not in {None, len(fields)}:
            reason = f"{len(fields)} fields found, {width} expected"
        if reason:
            rows.bad.append((rows.next_line, reason))
            after, lines = end + 1, 1
        elif fields:
            rows.fields.append(fields)
            rows.lines.append(rows.next_line)
        rows.consumed = min(after, len(data))
        rows.next_line += lines
    return rows


def _split_quoted(
    data: bytes, start: int, delimiter: bytes, final: bool
) -> tuple[list[bytes], int, str] | None:
    """Fields of one row with quotes, where it ends, and what is wrong with it.

    Returns:
        None if the row goes on behind the end of the data.
    """
    fields: list[bytes] = []
    position = start
    while True:
        if data[position : position + 1] == QUOTE:
            value, position = _quoted_field(data, position)
            if position < 0 and not final and len(data) - start <= MAX_ROW_BYTES:
                return None
            reason = _quoting_fault(data, position, delimiter)
        else:
            value, position, reason = _plain_field(data, position, delimiter)
        if position >= len(data) - 1 and not final:
            return None
        if reason:
            return [], start, reason
        fields.append(value)
        if data[position : position + 1] != delimiter:
            ending = 2 if data[position : position + 2] == b"\r\n" else 1
            return fields, position + ending, ""
        position += 1


def _quoting_fault(data: bytes, position: int, delimiter: bytes) -> str:
    """What is wrong behind the close of a quoted field; empty if nothing."""
    if position < 0:
        return "a quoted field opens here and never closes"
    behind = data[position : position + 2]
    if behind[:1] in (delimiter, b"\n", b"") or behind in (b"\r\n", b"\r"):
        return ""
    return "text after the closing quote of a field"


def _plain_field(data: bytes, start: int, delimiter: bytes) -> tuple[bytes, int, str]:
    """An unquoted field, the position behind it, and what is wrong with it."""
    stop = data.find(b"\n", start)
    stop = len(data) if stop < 0 else stop
    border = data.find(delimiter, start, stop)
    if border < 0:
        # The row's last field; its line may end in CR LF.
        border = stop - 1 if data[start:stop].endswith(b"\r") else stop
    value = data[start:border]
    return value, border, "a carriage return inside the row" if b"\r" in value else ""


def _quoted_field(data: bytes, start: int) -> tuple[bytes, int]:
    """Value of a field that opens at ``start``, and the position behind its close.

    Returns:
        Position -1 if it never closes.
    """
    position = start + 1
    while True:
        close = data.find(QUOTE, position)
        if close < 0:
            return b"", -1
        if data[close + 1 : close + 2] != QUOTE:
            return data[start + 1 : close].replace(b'""', QUOTE), close + 1
        position = close + 2

"""The header line of delimited text, and what can be wrong with it."""

import json
from collections.abc import Iterable, Sequence
from typing import Protocol

from data.errors import DataError, suggest
from data.readers.split_fields import split_rows


class HeaderDialect(Protocol):
    """The part of a dialect that a header depends on."""

    @property
    def delimiter(self) -> str:
        """One character."""

    @property
    def quoting(self) -> bool:
        """Whether fields may stand in quotes."""

    @property
    def typed_header(self) -> bool:
        """Whether header cells are ``name:type``."""


def read_header(
    data: bytes,
    file: str,
    dialect: HeaderDialect,
    wanted: Sequence[str] | None,
    final: bool,
) -> tuple[list[str], int, int] | None:
    """Names of the columns.

    Args:
        data: the file from its beginning, without a byte order mark.
        file: its path, for errors.
        dialect: how it is written.
        wanted: columns that must be there.
        final: True if the data is the whole file.

    Returns:
        Names, bytes of the header and number of the line after it; None if more data
        is needed. An empty file has no names.

    Raises:
        DataError: a wanted column is absent or there twice.
    """
    rows = split_rows(
        data,
        delimiter=dialect.delimiter.encode(),
        quoting=dialect.quoting,
        width=None,
        first_line=1,
        final=final,
        limit=1,
    )
    if rows.bad:
        line, reason = rows.bad[0]
        raise DataError(f"{file}: line {line}: header: {reason}")
    if not rows.fields:
        return ([], rows.consumed, rows.next_line) if final else None
    names = [name.decode("utf-8", "replace") for name in rows.fields[0]]
    if dialect.typed_header:
        names = [name.rpartition(":")[0] or name for name in names]
    check_columns(file, names, wanted or (), delimiter=dialect.delimiter)
    return names, rows.consumed, rows.next_line


def check_columns(
    file: str, names: Sequence[str], wanted: Iterable[str], delimiter: str = ""
) -> None:
    """Checks that a file has each wanted column once.

    Args:
        file: its path, for errors.
        names: the columns it has.
        wanted: the columns it must have.
        delimiter: what separated the names in delimited text, else empty.

    Raises:
        DataError: one is absent or there twice. The names found are shown only if one
            of them is wanted: otherwise the line may be a row of data.
    """
    wanted = list(wanted)
    twice = [name for name in wanted if list(names).count(name) > 1]
    if twice:
        raise DataError(f"{file}: header has the column '{twice[0]}' twice")
    absent = [name for name in wanted if name not in names]
    if not absent:
        return
    listed = ", ".join(f"'{name}'" for name in wanted)
    loose = {name.strip().casefold() for name in names}
    other = next(
        (mark for mark in ";\t|," if any(mark in name for name in names)), None
    )
    if delimiter and len(names) == 1 and other:
        raise DataError(
            f"{file}: line 1 is one column by the delimiter {delimiter!r}; it holds "
            f"{other!r}: declare data.layouts: [{{delimiter: {json.dumps(other)}}}], and "
            f"header: [names] besides if it has no header line. Columns wanted: {listed}"
        )
    if delimiter and not any(name.strip().casefold() in loose for name in wanted):
        raise DataError(
            f"{file}: line 1 names none of the columns wanted: {listed}. If the file "
            "has no header line, declare header: [names] in its layout"
        )
    found = ", ".join(f"'{name}'" for name in list(names)[:40])
    raise DataError(
        f"{file}: no column '{absent[0]}' (names count with case and spaces). Columns "
        f"wanted: {listed}. Found: {found}.{suggest(absent[0], names)}"
    )

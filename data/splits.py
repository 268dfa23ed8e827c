"""Which rows are held out: by hash of a key, or by time with exact borders."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data.arrays import Floats, Ints

SECONDS_PER_DAY = 86_400
# Between the values of several columns; a value that holds it only shares a side.
_SEPARATOR = b"\x1f"
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def hash_fractions(columns: Sequence[pa.Array], salt: str) -> Floats:
    """A uniform number in [0, 1) for each row that depends on its key alone.

    BLAKE2b of salt and key, 64 bits: the same in every process and version.

    Args:
        columns: binary arrays without nulls, together the key.
        salt: changes all numbers at once.

    Returns:
        [rows] float64.
    """
    keys = columns[0]
    if len(columns) > 1:
        keys = pc.binary_join_element_wise(*columns, pa.scalar(_SEPARATOR, pa.binary()))
    coded = keys.dictionary_encode()
    prefix = hashlib.blake2b(salt.encode() + b"\0", digest_size=8)
    hashes = np.empty(len(coded.dictionary), np.uint64)
    for index, key in enumerate(coded.dictionary.to_pylist()):
        state = prefix.copy()
        state.update(key)
        hashes[index] = int.from_bytes(state.digest(), "big")
    # 53 bits are all that a float64 holds.
    fractions = (hashes >> np.uint64(11)).astype(np.float64) / 2.0**53
    taken: Floats = fractions[coded.indices.to_numpy()]
    return taken


def day_border(last: int, days: int) -> int:
    """First second of the last calendar days (UTC).

    Args:
        last: time of the latest row, unix seconds.
        days: days to hold out.

    Returns:
        Rows at or after this second are held out.
    """
    return (last // SECONDS_PER_DAY - days + 1) * SECONDS_PER_DAY


def share_of(rows: int, fraction: float) -> int:
    """A fraction of a number of rows, rounded half up; at least 1, at most all but one.

    Args:
        rows: how many there are.
        fraction: between 0 and 1.

    Returns:
        The number of rows; 1 where there is only one.
    """
    return max(1, min(int(rows * fraction + 0.5), rows - 1))


@dataclass(frozen=True)
class CountBorder:
    """The second at which the latest rows begin.

    Attributes:
        second: all rows after it are held out, and none before it.
        of_this_second: rows of exactly this second that are held out too.
    """

    second: int
    of_this_second: int


def count_border(seconds: Ints, counts: Ints, wanted: int) -> CountBorder:
    """Finds the border such that exactly a number of rows lies behind it.

    Args:
        seconds: [times] distinct unix seconds, ascending.
        counts: [times] rows of each.
        wanted: rows to hold out, at least 1 and at most all.

    Returns:
        The border.
    """
    from_here = np.cumsum(counts[::-1])[::-1]  # rows at or after each second
    index = int(np.flatnonzero(from_here >= wanted)[-1])
    behind = int(from_here[index]) - int(counts[index])
    return CountBorder(int(seconds[index]), wanted - behind)


# The values of the tie-break columns as text, file and batch, row within the batch.
Position = tuple[int, int, int]
TiedRow = tuple[tuple[bytes, ...], Position]


@dataclass(frozen=True)
class TieBorder:
    """Where the rows of one second are cut.

    Attributes:
        numeric: for each tie-break column whether it is compared as a number.
        first: the first row of that second that is held out, None if none is.
    """

    numeric: tuple[bool, ...]
    first: TiedRow | None

    def is_behind(self, row: TiedRow) -> bool:
        """True if a row of that second is held out."""
        if self.first is None:
            return False
        return _order(row, self.numeric) >= _order(self.first, self.numeric)


def tie_border(rows: Iterable[TiedRow], of_this_second: int) -> TieBorder:
    """Cuts the rows of one second by their tie-break columns, then by position.

    Args:
        rows: all rows of that second.
        of_this_second: how many of them are held out: the last ones.

    Returns:
        The border.
    """
    rows = list(rows)
    width = len(rows[0][0]) if rows else 0
    numeric = tuple(
        all(_NUMBER.fullmatch(values[index]) for values, _ in rows)
        for index in range(width)
    )
    if not rows or of_this_second == 0:
        return TieBorder(numeric, None)
    ordered = sorted(rows, key=lambda row: _order(row, numeric))
    return TieBorder(numeric, ordered[-of_this_second])


def _order(
    row: TiedRow, numeric: tuple[bool, ...]
) -> tuple[tuple[int | float | bytes, ...], Position]:
    """Sort key of a row."""
    values = tuple(
        _number(value) if is_number else value
        for value, is_number in zip(row[0], numeric, strict=True)
    )
    return values, row[1]


def _number(text: bytes) -> int | float:
    """A number without loss where it is an integer."""
    try:
        return int(text)
    except ValueError:
        return float(text)

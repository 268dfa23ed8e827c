"""Slices of evaluation rows, computed by column."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.metrics.results import SliceKey

MISSING = "(missing)"
# What stands for no value, under the code 0. CSV cannot tell empty text from none.
NO_VALUE: dict[Any, int] = {None: 0, b"": 0, "": 0}

Ints = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class SliceFeature:
    """Values of one feature over rows, as codes.

    Attributes:
        rows: int64 [entries], the row of each entry, ascending; several entries a row
            where the feature has several values, never the same value twice.
        codes: int64 [entries], position of the value in ``values``.
        values: distinct values: text or numbers.
    """

    rows: Ints
    codes: Ints
    values: list[Any]

    def take(self, index: Ints, row_count: int) -> "SliceFeature":
        """Picks rows.

        Args:
            index: int64 positions of the rows to keep, ascending.
            row_count: number of rows before.

        Returns:
            The feature over the rows kept, renumbered from 0.
        """
        position = np.full(row_count, -1, np.int64)
        position[index] = np.arange(len(index))
        rows = position[self.rows]
        kept = rows >= 0
        codes, values = self.codes[kept], self.values
        if len(values) > len(codes):  # most values are of other rows
            used, codes = np.unique(codes, return_inverse=True)
            values = [values[at] for at in used.tolist()]
        return SliceFeature(rows[kept], codes, values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles small: most features have one value a row, and few values."""
        count = len(self.rows)
        single = np.array_equal(self.rows, np.arange(count))
        codes = self.codes.astype(np.min_scalar_type(len(self.values)))
        rows = None if single else self.rows.astype(np.int32)
        return _unpickle_feature, (rows, codes, self.values)


def _unpickle_feature(
    rows: NDArray[np.int32] | None, codes: NDArray[Any], values: list[Any]
) -> SliceFeature:
    """Undoes ``SliceFeature.__reduce__``."""
    wide = np.arange(len(codes)) if rows is None else rows.astype(np.int64)
    return SliceFeature(wide, codes.astype(np.int64), values)


@dataclasses.dataclass(frozen=True, slots=True)
class SliceSpec:
    """A cross of features to slice by, and values to keep.

    Attributes:
        features: feature names, sorted; none for all rows.
        wanted: wanted value, as text, of some features.
        top: how many of the slices with the most rows to keep; None for all.
    """

    features: tuple[str, ...]
    wanted: tuple[tuple[str, str], ...] = ()
    top: int | None = None


def slice_feature(values: Sequence[Any], rows: Ints, row_count: int) -> SliceFeature:
    """Codes the values of a feature; rows without one get the value ``(missing)``.

    Args:
        values: text, bytes or numbers, one an entry; None and empty text are no value.
        rows: int64 [entries], the row of each entry, ascending.
        row_count: number of rows.

    Returns:
        The feature with at least one entry for every row.
    """
    table = dict(NO_VALUE)
    codes = np.fromiter(
        (table.setdefault(one, len(table)) for one in values), np.int64, len(values)
    )
    return coded_feature(codes, rows, list(table), row_count)


def coded_feature(
    codes: Ints, rows: Ints, values: Sequence[Any], row_count: int
) -> SliceFeature:
    """Completes a coded feature: rows without a value, values given twice, text.

    Args:
        codes: int64 [entries], positions in ``values``; 0 is no value.
        rows: int64 [entries], the row of each entry, ascending.
        values: text, bytes or numbers; those of ``NO_VALUE`` come first.
        row_count: number of rows.

    Returns:
        The feature with at least one entry for every row.
    """
    present = codes > 0
    # Values that read the same are one: bytes that are no UTF-8 are written as escapes.
    table: dict[Any, int] = {MISSING: 0}
    readable = [table.setdefault(_readable(one), len(table)) for one in values]
    codes = np.asarray(readable, np.int64)[codes[present]]
    rows = rows[present]
    absent = np.flatnonzero(np.bincount(rows, minlength=row_count) == 0)
    rows = np.concatenate([rows, absent])
    codes = np.concatenate([codes, np.zeros(len(absent), np.int64)])
    if len(rows) != row_count:  # some row has several values
        pairs = np.unique(rows * len(table) + codes)
        rows, codes = np.divmod(pairs, len(table))
    elif len(absent):
        order = np.argsort(rows, kind="stable")
        rows, codes = rows[order], codes[order]
    return SliceFeature(rows, codes, list(table))


def join_features(parts: Sequence[tuple[SliceFeature, int]]) -> SliceFeature:
    """Puts the rows of several parts one behind the other.

    Args:
        parts: each part's feature and its number of rows.

    Returns:
        One feature over all rows, with one code for equal values.
    """
    table: dict[Any, int] = {}
    rows, codes, first = [], [], 0
    for part, row_count in parts:
        recoded = [table.setdefault(one, len(table)) for one in part.values]
        codes.append(np.asarray(recoded, np.int64)[part.codes])
        rows.append(part.rows + first)
        first += row_count
    return SliceFeature(np.concatenate(rows), np.concatenate(codes), list(table))


def slice_groups(
    features: Mapping[str, SliceFeature], spec: SliceSpec, row_count: int
) -> Iterator[tuple[SliceKey, Ints]]:
    """Lists the slices of one spec with their rows.

    Args:
        features: each feature of the spec by name.
        spec: the features to cross.
        row_count: number of rows.

    Yields:
        Slice key, in order of feature names, and int64 positions of its rows.
    """
    if row_count == 0:
        return
    rows, codes = np.arange(row_count), np.zeros(row_count, np.int64)
    for name in spec.features:
        feature = features[name]
        rows, codes = _cross(rows, codes, feature)
    order = np.argsort(codes, kind="stable")
    rows, codes = rows[order], codes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    wanted = dict(spec.wanted)
    for start, end in zip(starts, np.append(starts[1:], len(codes)), strict=True):
        key = _key(features, spec, int(codes[start]))
        if all(str(value) == wanted.get(name, str(value)) for name, value in key):
            yield key, rows[start:end]


def by_size(key: SliceKey, rows: int) -> tuple[int, str]:
    """Sorts slices: the one with the most rows first, equal ones by their text."""
    return -rows, str(key)


def _cross(rows: Ints, codes: Ints, feature: SliceFeature) -> tuple[Ints, Ints]:
    """Pairs each entry with every value that its row has in another feature."""
    combined = codes * len(feature.values)
    if len(feature.rows) == len(rows) and np.array_equal(feature.rows, rows):
        return rows, combined + feature.codes
    first = np.searchsorted(feature.rows, rows)
    times = np.searchsorted(feature.rows, rows, side="right") - first
    entry = np.repeat(np.arange(len(rows)), times)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(times) - times, times)
    return rows[entry], combined[entry] + feature.codes[first[entry] + within]


def _key(features: Mapping[str, SliceFeature], spec: SliceSpec, code: int) -> SliceKey:
    """Values of the features behind a combined code."""
    key = []
    for name in reversed(spec.features):
        values = features[name].values
        code, last = divmod(code, len(values))
        key.append((name, values[last]))
    return tuple(reversed(key))


def _readable(value: Any) -> str | int | float:
    """Text of bytes (bytes that are no UTF-8 are escaped); numbers stay numbers."""
    if value in NO_VALUE:
        return MISSING
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if value == MISSING:  # written in the data, which is not the same as missing
        return f'"{MISSING}"'
    return value  # type: ignore[no-any-return]

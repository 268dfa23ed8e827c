"""Columns of lists: sequences of ids, vectors, and lists that hold one value."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data.arrays import Bools, Ints
from data.convert.faults import Converted, Fault, UnfitColumnError, faults_of, mask
from data.convert.text import is_list, to_text

Convert = Callable[[pa.Array, str], Converted]


def single(values: pa.Array) -> Converted:
    """Lists of at most one value as that value; other columns as they are.

    Args:
        values: a column.

    Returns:
        The values, null for empty lists, and a fault for lists of several.
    """
    if not is_list(values.type):
        return Converted(values)
    lists = _plain(values)
    lengths = _lengths(lists)
    offsets = lists.offsets.to_numpy()[:-1]
    first = pa.array(offsets, pa.int64(), mask=lengths == 0)
    several = Fault(rows=lengths > 1, reason="one value expected, several found")
    return Converted(lists.values.take(first), faults_of(several))


def to_list(
    values: pa.Array, column: str, separator: str, convert: Convert, length: int | None
) -> Converted:
    """Lists of converted items.

    Text is split at the separator. In a list of any length absent items are left out;
    in one of a fixed length they are faults.

    Args:
        values: text, lists, or single values.
        column: its name, for errors.
        separator: between items, where the log stores text.
        convert: what makes an item of the target type.
        length: exact number of items of a list that is there, or None.

    Returns:
        Lists, null where the row has none or an empty one; faults of an item count for
        the whole row.

    Raises:
        UnfitColumnError: items of another type.
    """
    if not is_list(values.type):
        text = to_text(values, column)
        values = pc.split_pattern(text, pattern=separator)
    lists = _plain(values)
    absent = ~mask(lists.is_valid())
    items = lists.values
    if is_list(items.type):
        raise UnfitColumnError(f"column '{column}' holds lists of lists")
    offsets = lists.offsets.to_numpy().astype(np.int64)
    done = convert(items, column)
    present = mask(done.values.is_valid())
    faults = [
        Fault(rows=_per_list(fault.rows, offsets), reason=f"item {fault.reason}")
        for fault in done.faults
    ]
    kept_before = np.concatenate([[0], np.cumsum(present)])
    ends = kept_before[offsets]
    counts = np.diff(ends)
    if length is not None:
        wrong = ~absent & (np.diff(offsets) > 0) & (counts != length)
        reason = f"must hold exactly {length} numbers"
        faults += faults_of(Fault(rows=wrong, reason=reason))
    absent |= counts == 0
    kept = done.values.filter(pa.array(present))
    marked = pa.array(ends.astype(np.int32), mask=np.append(absent, False))
    return Converted(pa.ListArray.from_arrays(marked, kept), tuple(faults))


def _plain(values: pa.Array) -> pa.Array:
    """Lists with 32-bit offsets that start at 0, nulls covering no values."""
    if pa.types.is_fixed_size_list(values.type):
        return _from_fixed_size(values)
    if pa.types.is_large_list(values.type):
        values = values.cast(pa.list_(values.type.value_type))
    return values.take(pa.array(np.arange(len(values))))


def _from_fixed_size(values: pa.Array) -> pa.Array:
    """Lists of a fixed size as lists of any; Arrow 10 has no cast for it."""
    size = values.type.list_size
    present = mask(values.is_valid())
    rows = np.flatnonzero(present) + values.offset
    items = values.values.take(
        pa.array((rows[:, None] * size + np.arange(size)).reshape(-1))
    )
    ends = np.concatenate([[0], np.cumsum(present * size)]).astype(np.int32)
    marked = pa.array(ends, mask=np.append(~present, False))
    return pa.ListArray.from_arrays(marked, items)


def _lengths(lists: pa.Array) -> Ints:
    """Number of items of each list; 0 where null."""
    lengths: Ints = (
        pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    )
    return lengths


def _per_list(items: Bools, offsets: Ints) -> Bools:
    """[lists] True where any item of the list is True."""
    before = np.concatenate([[0], np.cumsum(items)])
    return np.diff(before[offsets]) > 0

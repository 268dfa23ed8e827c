"""Columns from Python values whose types are known only row by row."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

_INT64 = range(-(2**63), 2**63)


def to_array(values: Sequence[Any]) -> pa.Array:
    """One array for values of any mix of types.

    Integers, floats and texts alone keep their type. A mix, and integers outside
    int64, become text as written. If one value is a list, all become lists.

    Args:
        values: None, bool, int, float, str, bytes, or lists of these.

    Returns:
        An array of int64, float64, binary, bool, or lists of one of the first three.
    """
    if any(isinstance(value, list) for value in values):
        lists = [
            value if isinstance(value, list) or value is None else [value]
            for value in values
        ]
        items = to_array([item for part in lists if part is not None for item in part])
        if pa.types.is_list(items.type) or pa.types.is_boolean(items.type):
            items = pa.array(
                [_text(item) for p in lists for item in p or ()], pa.binary()
            )
        elif pa.types.is_null(items.type):
            items = items.cast(pa.binary())
        offsets: list[int | None] = [0]
        end = 0
        for part in lists:
            end += len(part or ())
            offsets.append(end)
        marked = [
            None if part is None else start
            for part, start in zip(lists, offsets, strict=False)
        ]
        return pa.ListArray.from_arrays(pa.array([*marked, end], pa.int32()), items)
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(value is None or value in _INT64 for value in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float} and float in kinds:
        return pa.array(
            [None if value is None else float(value) for value in values], pa.float64()
        )
    return pa.array([_text(value) for value in values], pa.binary())


def _text(value: Any) -> bytes | None:
    """A value as it would be written."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, bool):
        return b"1" if value else b"0"
    return str(value).encode("utf-8", "surrogatepass")

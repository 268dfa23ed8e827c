"""Columns from Python values whose types are known only row by row."""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

_INT64 = range(-(2**63), 2**63)
_NONE: frozenset[str] = frozenset()
_LIST = frozenset({"a list"})
_KINDS = {
    bool: frozenset({"a bool"}),
    int: frozenset({"an integer"}),
    float: frozenset({"a float"}),
    str: frozenset({"a text"}),
}
_ITEM_KINDS = _KINDS | {str: frozenset({"a list of texts"})}
# Pairs that one column cannot hold: a text among lists would not be split at its
# separator, an id written as a float has lost digits or is NaN, and true is neither the
# number 1 nor the id 1.
_CLASHES = (
    ("a text", "a list"),
    ("a text", "a float"),
    ("a list of texts", "a float"),
    ("a bool", "an integer"),
    ("a bool", "a float"),
    ("a bool", "a text"),
    ("a bool", "a list of texts"),
)


def kinds_of(value: Any) -> frozenset[str]:
    """Kinds of a value, as far as they restrict the other values of its column.

    Args:
        value: None, bool, int, float, str, or a list of these.

    Returns:
        Of ``a text``, ``a bool``, ``an integer``, ``a float``, ``a list`` and ``a list
        of texts`` those that it is or holds; none for an absent value.
    """
    if isinstance(value, list):
        types = set(map(type, value))
        return _LIST.union(*(_ITEM_KINDS.get(kind, _NONE) for kind in types))
    return _NONE if value == "" else _KINDS.get(type(value), _NONE)


def clash(kinds: frozenset[str], column: frozenset[str]) -> str:
    """Tells why a value does not fit its column.

    Args:
        kinds: of the value.
        column: kinds of the column's values before it.

    Returns:
        The reason; empty if it fits.
    """
    held = kinds | column
    for pair in _CLASHES:
        for one, other in (pair, pair[::-1]):
            if one in kinds and other in held:
                return f"{one} in a column that holds {other}; write all alike"
    return ""


def to_array(values: Sequence[Any]) -> pa.Array:
    """One array for values of any mix of types.

    Bools, integers, floats and texts alone keep their type. Integers join floats; any
    other mix, and integers outside int64, become text as written. If one value is a
    list, all become lists.

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
            [None if value is None else _float(value) for value in values], pa.float64()
        )
    return pa.array([_text(value) for value in values], pa.binary())


def _float(value: float) -> float:
    """A number as a float; an integer beyond all floats is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _text(value: Any) -> bytes | None:
    """A value as it would be written."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, bool):
        return b"1" if value else b"0"
    try:
        # Bytes that are not UTF-8, as the reader let them through.
        return str(value).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return str(value).encode("utf-8", "surrogatepass")

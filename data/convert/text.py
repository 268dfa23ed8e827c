"""Ids and texts as bytes, exactly as the log writes them."""

import pyarrow as pa
import pyarrow.compute as pc

from data.convert.faults import UnfitColumnError


def to_text(values: pa.Array, column: str) -> pa.Array:
    """Values as bytes; empty ones become null.

    Text and bytes stay as they are (``007`` is not ``7``); integers of any width and
    decimals without fraction become decimal text; booleans become 0 and 1.

    Args:
        values: a column of single values.
        column: its name, for errors.

    Returns:
        A binary array.

    Raises:
        UnfitColumnError: floats, times and other types, which have no one spelling.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    if pa.types.is_null(kind):
        return values.cast(pa.binary())
    if is_text(kind):
        text = values.cast(pa.binary())
        empty = pc.equal(pc.binary_length(text), 0)
        if pc.any(empty).as_py():
            text = pc.if_else(empty, pa.scalar(None, pa.binary()), text)
        return text
    if pa.types.is_boolean(kind):
        return values.cast(pa.int8()).cast(pa.string()).cast(pa.binary())
    if pa.types.is_integer(kind):
        return values.cast(pa.string()).cast(pa.binary())
    if pa.types.is_decimal(kind) and kind.scale == 0:
        whole = [None if v is None else b"%d" % int(v) for v in values.to_pylist()]
        return pa.array(whole, pa.binary())
    remedy = (
        "ids are never floats (they lose digits above 2^53): write integers or text"
        if pa.types.is_floating(kind)
        else "write it as text, or as an integer"
    )
    raise UnfitColumnError(f"column '{column}' has the type {kind}; {remedy}")


def is_text(kind: pa.DataType) -> bool:
    """True for text and bytes of any width."""
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_large_string(kind)
    )


def is_list(kind: pa.DataType) -> bool:
    """True for lists of any layout."""
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
    )

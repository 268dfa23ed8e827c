"""Numbers: float32 for numeric features, int64 for identity-encoded ids."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data.arrays import Bools
from data.convert.faults import Converted, Fault, UnfitColumnError, faults_of, mask
from data.convert.text import is_text, to_text

# Plain decimal notation; Arrow alone would also take nan and inf as text.
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_INTEGER = r"^-?[0-9]+$"
# The square of a larger number is no float32, so that a variance would be infinite.
MAX_MAGNITUDE = 1.8e19


def to_float64(values: pa.Array, column: str) -> Converted:
    """Finite numbers as float64; text in decimal notation, blank = null.

    Args:
        values: text, integers, floats, decimals or booleans.
        column: its name, for errors.

    Returns:
        The numbers, and faults for text that is no number and for NaN, infinity, and
        magnitudes above ``MAX_MAGNITUDE``.

    Raises:
        UnfitColumnError: another type.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    unreadable = np.zeros(len(values), bool)
    shown: pa.Array | None = None
    if is_text(kind):
        shown = to_text(values, column)
        values, unreadable = _parse(shown)
    elif pa.types.is_boolean(kind):
        values = values.cast(pa.int8()).cast(pa.float64())
    elif (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        values = values.cast(pa.float64(), safe=False)
    else:
        raise UnfitColumnError(
            f"column '{column}' has the type {kind}; a number is expected"
        )
    numbers = values.to_numpy(zero_copy_only=False)
    present = mask(values.is_valid())
    infinite = present & ~np.isfinite(numbers)
    with np.errstate(invalid="ignore"):
        huge = present & ~infinite & (np.abs(numbers) > MAX_MAGNITUDE)
    faults = faults_of(
        Fault(rows=unreadable, reason="must be a number", values=shown),
        Fault(rows=infinite, reason="must be finite, got NaN or infinity"),
        Fault(rows=huge, reason=f"must be within +-{MAX_MAGNITUDE:.1e}", values=shown),
    )
    if infinite.any() or huge.any():
        absent = ~present | infinite | huge
        values = pa.array(numbers, pa.float64(), mask=absent)
    return Converted(values, faults)


def to_float32(values: pa.Array, column: str) -> Converted:
    """Finite numbers as float32; see ``to_float64``.

    Args:
        values: the column.
        column: its name.

    Returns:
        The numbers and the faults.
    """
    wide = to_float64(values, column)
    return Converted(wide.values.cast(pa.float32(), safe=False), wide.faults)


def to_int64(values: pa.Array, column: str) -> Converted:
    """Integers; blank = null.

    Args:
        values: text in decimal notation, or integers.
        column: its name, for errors.

    Returns:
        The integers, and a fault for text that is no integer of 64 bits.

    Raises:
        UnfitColumnError: floats and other types.
    """
    text = to_text(values, column)
    if pa.types.is_integer(values.type) and values.type != pa.uint64():
        return Converted(values.cast(pa.int64()))
    try:
        return Converted(text.cast(pa.string()).cast(pa.int64()))
    except pa.ArrowInvalid:
        pass
    shaped = mask(pc.match_substring_regex(text, pattern=_INTEGER))
    parsed = [
        int(value) if good and -(2**63) <= int(value) < 2**63 else None
        for value, good in zip(text.to_pylist(), shaped, strict=True)
    ]
    integers = pa.array(parsed, pa.int64())
    wrong = mask(text.is_valid()) & ~mask(integers.is_valid())
    reason = "must be an integer of 64 bits"
    return Converted(integers, faults_of(Fault(rows=wrong, reason=reason, values=text)))


def _parse(text: pa.Array) -> tuple[pa.Array, Bools]:
    """Text as float64, and where it is no number."""
    try:
        return text.cast(pa.string()).cast(pa.float64()), np.zeros(len(text), bool)
    except pa.ArrowInvalid:
        pass
    shaped = pc.match_substring_regex(text, pattern=_NUMBER)
    good = mask(shaped)
    numbers = [
        float(value) if is_number else None
        for value, is_number in zip(text.to_pylist(), good, strict=True)
    ]
    return pa.array(numbers, pa.float64()), mask(text.is_valid()) & ~good

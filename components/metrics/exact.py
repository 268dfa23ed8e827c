"""Sums of float64 numbers without rounding, so that no order or split shows."""

import numpy as np
from numpy.typing import NDArray

# The finest bit that np.frexp can hand out: 2**-1073 with 53 bits of fraction.
_UNIT_BITS = 1126
_FRACTION_BITS = 53
_LOW_BITS = 26


def exact_sums(values: NDArray[np.float64]) -> list[int]:
    """Sums each row of a matrix exactly.

    Each number is split into its integer fraction (53 bits) and exponent; fractions of
    one exponent are added in two halves whose float64 sums stay below 2**53 and so are
    exact; the halves are put together as Python integers.

    Args:
        values: float64 [sums, numbers], finite, fewer than 2**26 numbers.

    Returns:
        One integer a row: the sum in units of 2**-1126. Adding such integers merges
        partial sums exactly.

    References:
        R. Neal, Fast exact summation using small and large superaccumulators, 2015.
    """
    count = len(values)
    if values.size == 0:
        return [0] * count
    fraction, exponent = np.frexp(values)  # both [sums, numbers]
    whole = np.ldexp(fraction, _FRACTION_BITS).astype(np.int64)
    lowest = int(exponent.min())
    width = int(exponent.max()) - lowest + 1
    row = np.arange(count)[:, None] * width
    place = (exponent - lowest + row).ravel()
    high = (whole >> _LOW_BITS).ravel().astype(np.float64)
    low = (whole & ((1 << _LOW_BITS) - 1)).ravel().astype(np.float64)
    high_sums = np.bincount(place, high, count * width).reshape(count, width)
    low_sums = np.bincount(place, low, count * width).reshape(count, width)
    base = _UNIT_BITS - _FRACTION_BITS + lowest
    totals = [0] * count
    for one, power in zip(*np.nonzero((high_sums != 0) | (low_sums != 0)), strict=True):
        part = (int(high_sums[one, power]) << _LOW_BITS) + int(low_sums[one, power])
        totals[one] += part << (base + int(power))
    return totals


def to_float(total: int) -> float:
    """Rounds an exact sum once, to the nearest float64.

    Args:
        total: a sum in units of 2**-1126.

    Returns:
        The nearest float64 number.
    """
    return total / (1 << _UNIT_BITS)

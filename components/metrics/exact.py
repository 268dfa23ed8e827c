"""Sums of float64 numbers without rounding, so that no order or split shows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The finest bit that np.frexp can hand out: 2**-1073 with 53 bits of fraction.
UNIT_BITS = 1126
_FRACTION_BITS = 53
_LOW_BITS = 26

# Bits of a digit: sums of 2**33 of them still fit an int64.
DIGIT_BITS = 30
_DIGIT_MASK = (1 << DIGIT_BITS) - 1


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
    return [_exact_sum(row) for row in values] if values.size else [0] * len(values)


def _exact_sum(values: NDArray[np.float64]) -> int:
    """Sums one row."""
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, _FRACTION_BITS).astype(np.int64)
    lowest = int(exponent.min())
    place = exponent - lowest
    high_sums = np.bincount(place, whole >> _LOW_BITS)
    low_sums = np.bincount(place, whole & ((1 << _LOW_BITS) - 1))
    base = UNIT_BITS - _FRACTION_BITS + lowest
    return sum(
        ((int(high_sums[power]) << _LOW_BITS) + int(low_sums[power])) << (base + power)
        for power in np.flatnonzero((high_sums != 0) | (low_sums != 0)).tolist()
    )


def to_float(total: int) -> float:
    """Rounds an exact sum once, to the nearest float64.

    Args:
        total: a sum in units of 2**-1126.

    Returns:
        The nearest float64 number.

    Raises:
        OverflowError: the sum is larger than a float64 holds.
    """
    return total / (1 << UNIT_BITS)


def digits(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    """Writes numbers in base 2**30, so that sums of any of them are exact.

    Args:
        values: float64 [numbers], finite and at least 0.

    Returns:
        int64 [digits, numbers], the lowest digit first, and the place of the lowest:
        a number is the sum over d of digit[d] * 2**(30 * (place + d)).
    """
    if not values.any():
        return np.zeros((1, len(values)), np.int64), 0
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, _FRACTION_BITS).astype(np.int64)
    place, shift = np.divmod(exponent.astype(np.int64) - _FRACTION_BITS, DIGIT_BITS)
    place[whole == 0] = place[whole > 0].min()
    low = (whole & _DIGIT_MASK) << shift  # below 2**59
    high = ((whole >> DIGIT_BITS) << shift) + (low >> DIGIT_BITS)  # below 2**53
    parts = (low & _DIGIT_MASK, high & _DIGIT_MASK, high >> DIGIT_BITS)
    lowest = int(place.min())
    count = int(place.max()) - lowest + len(parts)
    table = np.zeros((count, len(values)), np.int64)
    column = np.arange(len(values))
    for step, part in enumerate(parts):
        table[place - lowest + step, column] += part
    used = np.flatnonzero(table.any(axis=1))
    return table[used[0] : used[-1] + 1], lowest + int(used[0])


def from_digits(table: NDArray[np.integer[Any]], lowest: int) -> NDArray[np.float64]:
    """Rounds numbers in base 2**30 to float64.

    Args:
        table: whole numbers [digits, numbers], sums of what :func:`digits` gave.
        lowest: place of the lowest digit.

    Returns:
        float64 [numbers]; equal digits give equal bits.
    """
    if len(table) == 1 and lowest == 0:
        return table[0].astype(np.float64)
    total = np.zeros(table.shape[1])
    for step, digit in enumerate(table):
        total += np.ldexp(digit.astype(np.float64), DIGIT_BITS * (lowest + step))
    return total

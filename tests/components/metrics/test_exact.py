"""Exact sums and digits against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.exact import (
    DIGIT_BITS,
    UNIT_BITS,
    digits,
    exact_sums,
    from_digits,
    to_float,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.lists(FINITE, min_size=1, max_size=30)
WEIGHTS = st.lists(FINITE.map(abs), min_size=1, max_size=30)
LARGEST, TINIEST = 1.7976931348623157e308, 5e-324


def exact(numbers):
    return sum(map(Fraction, numbers), Fraction(0))


def values_of(table, lowest):
    """Numbers that digits stand for, as fractions."""
    places = [Fraction(2) ** (DIGIT_BITS * (lowest + at)) for at in range(len(table))]
    return [
        sum(int(digit) * place for digit, place in zip(column, places, strict=True))
        for column in table.T
    ]


@given(NUMBERS)
def test_sums_equal_fractions(numbers):
    (total,) = exact_sums(np.array([numbers]))
    assert Fraction(total, 2**UNIT_BITS) == exact(numbers)


@given(NUMBERS)
def test_a_sum_is_rounded_once_to_the_nearest(numbers):
    (total,) = exact_sums(np.array([numbers]))
    try:
        expected = float(exact(numbers))
    except OverflowError:
        with pytest.raises(OverflowError):
            to_float(total)
    else:
        assert to_float(total) == expected


@given(NUMBERS, st.randoms(use_true_random=False), st.integers(0, 30))
def test_parts_in_any_order_add_up_to_the_same_integer(numbers, random, cut):
    (whole,) = exact_sums(np.array([numbers]))
    random.shuffle(numbers)
    matrix = np.array([numbers])
    (first,), (second,) = exact_sums(matrix[:, :cut]), exact_sums(matrix[:, cut:])
    assert second + first == whole


def test_smallest_and_largest_numbers_meet():
    (total,) = exact_sums(np.array([[LARGEST, TINIEST, -LARGEST]]))
    assert to_float(total) == TINIEST


def test_each_row_is_summed_by_itself_and_no_numbers_make_zero():
    assert [to_float(one) for one in exact_sums(np.array([[1.0, 2], [3, -4]]))] == [
        3,
        -1,
    ]
    assert exact_sums(np.zeros((2, 0))) == [0, 0]


@given(WEIGHTS)
def test_digits_write_every_number_exactly(weights):
    table, lowest = digits(np.array(weights))
    assert values_of(table, lowest) == [Fraction(one) for one in weights]
    assert table.min() >= 0
    assert table.max() < 2**DIGIT_BITS


@given(WEIGHTS)
def test_digits_and_back_keep_every_bit(weights):
    table, lowest = digits(np.array(weights))
    assert from_digits(table, lowest).tolist() == weights


@given(WEIGHTS)
def test_added_digits_are_the_exact_sum_and_round_to_it(weights):
    numbers = np.array(weights) / (2 * len(weights))  # no sum beyond float64
    table, lowest = digits(numbers)
    total = table.sum(axis=1, keepdims=True)
    assert values_of(total, lowest) == [exact(numbers.tolist())]
    assert from_digits(total, lowest)[0] == pytest.approx(
        float(exact(numbers.tolist())), rel=1e-15, abs=0
    )


def test_counts_are_digits_of_one_place():
    assert from_digits(np.array([[3, 0, 2**40]]), 0).tolist() == [3, 0, 2**40]


def test_denormal_and_largest_numbers_have_digits_side_by_side():
    table, lowest = digits(np.array([TINIEST, LARGEST, 0.0]))
    assert values_of(table, lowest) == [Fraction(TINIEST), Fraction(LARGEST), 0]

"""Exact sums against fractions and math.fsum."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.exact import exact_sums, to_float

NUMBERS = st.lists(
    st.floats(
        allow_nan=False,
        allow_infinity=False,
        width=64,
        min_value=-1e300,
        max_value=1e300,
    ),
    min_size=1,
    max_size=30,
)


@given(NUMBERS)
def test_equals_fsum(numbers):
    (total,) = exact_sums(np.array([numbers]))
    assert to_float(total) == math.fsum(numbers)


@given(NUMBERS, st.integers(0, 30))
def test_parts_add_up_exactly(numbers, cut):
    matrix = np.array([numbers])
    (whole,) = exact_sums(matrix)
    (first,), (second,) = exact_sums(matrix[:, :cut]), exact_sums(matrix[:, cut:])
    assert first + second == whole


def test_smallest_and_largest_numbers_meet():
    tiny, huge = 5e-324, 1.7976931348623157e308
    (total,) = exact_sums(np.array([[huge, tiny, -huge]]))
    assert to_float(total) == tiny

"""Codes of values: order of numbers, hashes of categories, absent ones."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from components.data_checks.codes import (
    ABSENT,
    CODES,
    category_codes,
    number_codes,
    row_codes,
)
from components.data_checks.columns import CheckedColumn

FLOATS = st.floats(-(2.0**99), 2.0**99, width=32, allow_subnormal=False)


@given(st.lists(FLOATS, min_size=2), st.sampled_from([0.0, 3.5, -1e6]))
def test_codes_of_numbers_keep_their_order(values, centre):
    ordered = np.sort(np.asarray(values, np.float64))
    codes = number_codes(ordered, centre)
    assert (np.diff(codes) >= 0).all()
    assert codes.min() >= 0
    assert codes.max() < ABSENT


def test_numbers_one_percent_of_their_distance_apart_have_different_codes():
    years = np.arange(1900.0, 2100.0)
    # Around 0 a step of seven bits is 8 below 2048 and 16 above: 1896 to 2040, and 2048
    # to 2096.
    assert len(set(number_codes(years, 0.0))) == 19 + 4
    near = years[np.abs(years - 2000) < 64]
    assert len(set(number_codes(near, 2000.0))) == len(near)


def test_both_zeros_are_one_and_nan_is_absent():
    codes = number_codes(np.asarray([0.0, -0.0, np.nan]), 0.0)
    assert codes[0] == codes[1]
    assert codes[2] == ABSENT


def test_a_category_has_the_same_code_in_every_batch():
    first = category_codes(pa.array([b"a", b"b", b"", b"a"], pa.binary()))
    second = category_codes(pa.array([b"b", b"a"], pa.binary()))
    assert first.tolist() == [second[1], second[0], ABSENT, second[1]]
    assert len(set(category_codes(pa.array(range(50), pa.int64())))) == 50
    assert first.max() < CODES


def test_a_list_counts_by_the_end_that_is_kept():
    lists = pa.array([[b"a", b"b"], None, [], [b"c"]], pa.list_(pa.binary()))
    a, b, c = category_codes(pa.array([b"a", b"b", b"c"], pa.binary()))
    column = CheckedColumn(name="seen", kind="category")
    assert row_codes(column, lists, 0.0).tolist() == [a, ABSENT, ABSENT, c]
    column = CheckedColumn(name="seen", kind="category", keeps_last=True)
    assert row_codes(column, lists, 0.0).tolist() == [b, ABSENT, ABSENT, c]


def test_a_vector_counts_by_its_length():
    lists = pa.array([[3.0, 4.0], None, [0.0, 5.0]], pa.list_(pa.float32()))
    codes = row_codes(CheckedColumn(name="image", kind="vector"), lists, 0.0)
    five = int(number_codes(np.asarray([5.0]), 0.0)[0])
    assert codes.tolist() == [five, ABSENT, five]

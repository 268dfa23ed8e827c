"""Times at the edges: units that overflow, years out of range, zones."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from data.convert.faults import UnfitColumnError
from data.convert.times import to_seconds

DAY = 86_400


def reasons(done):
    """Row -> reason of its fault."""
    return {
        int(row): fault.reason
        for fault in done.faults
        for row in np.flatnonzero(fault.rows)
    }


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_times_out_of_range_are_bad_rows(unit):
    years = [datetime.datetime(year, 1, 1) for year in (1, 9999, 1970)]
    done = to_seconds(pa.array([*years, None], pa.timestamp(unit)), "t", "auto")
    assert done.values.to_pylist() == [None, None, 0, None]
    found = reasons(done)
    assert sorted(found) == [0, 1]
    assert "1970" in found[0]
    assert "5138" in found[1]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_largest_and_smallest_count_of_a_unit_do_not_overflow(unit):
    ends = pa.array([2**63 - 1, -(2**63)], pa.int64()).cast(pa.timestamp(unit))
    done = to_seconds(ends, "t", "auto")
    # 2^63 nanoseconds are 292 years, so that the first end lies in 2262.
    first = 9_223_372_036 if unit == "ns" else None
    assert done.values.to_pylist() == [first, None]


def test_fractions_are_cut_off_exactly():
    # One nanosecond before the second: a float64 would round it up.
    before = pa.array([1_600_000_000 * 10**9 - 1, -1]).cast(pa.timestamp("ns"))
    done = to_seconds(before, "t", "auto")
    assert done.values.to_pylist() == [1_599_999_999, None]
    assert list(reasons(done)) == [1]


def test_numbers_too_large_for_64_bits_are_bad_among_iso_times():
    texts = pa.array([b"1970-01-02", b"1" + b"0" * 20, b"1" * 400, b"7.9"])
    done = to_seconds(texts, "t", "auto")
    assert done.values.to_pylist() == [DAY, None, None, 7]
    assert sorted(reasons(done)) == [1, 2]


@pytest.mark.parametrize(
    ("zone", "seconds"),
    [
        (b"+14:00", DAY - 14 * 3600),
        (b"-14:59", DAY + 15 * 3600 - 60),
        (b"+15:00", None),
        (b"+99:99", None),
        (b"+01:60", None),
    ],
)
def test_zones_that_exist(zone, seconds):
    done = to_seconds(pa.array([b"1970-01-02 00:00:00" + zone]), "t", "iso")
    assert done.values.to_pylist() == [seconds]
    assert list(reasons(done)) == ([] if seconds is not None else [0])


def test_true_is_no_second():
    with pytest.raises(UnfitColumnError, match="'t' has the type bool; no date in it"):
        to_seconds(pa.array([True]), "t", "auto")

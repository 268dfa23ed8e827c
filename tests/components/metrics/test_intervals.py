"""Standard errors and t intervals against direct formulas, and coverage."""

import numpy as np
import pytest
from scipy import stats

from components.metrics.intervals import (
    CONFIDENCE,
    ErrorSums,
    t_interval,
    t_tail,
)


def error_sums(*parts):
    total = ErrorSums()
    for part in parts:
        sums = ErrorSums()
        sums.add(np.asarray(part, float))
        total.merge(sums)
    return total


def test_effective_users_and_standard_error_equal_the_direct_formulas():
    errors = np.random.default_rng(0).normal(0, 1e-3, 60) ** 3
    sums = error_sums(errors)
    effective = (errors**2).sum() ** 2 / (errors**4).sum()
    error = np.sqrt((errors**2).sum() * effective / (effective - 1))
    assert sums.effective_users == pytest.approx(effective, rel=1e-12)
    assert sums.standard_error == pytest.approx(error, rel=1e-12)


def test_parts_merged_in_any_order_give_the_same_sums():
    errors = np.random.default_rng(0).normal(0, 1, 60) * 10.0 ** np.arange(-30, 30)
    parts = np.split(errors, [7, 7, 40])
    assert error_sums(*parts) == error_sums(*reversed(parts)) == error_sums(errors)


def test_equal_users_count_whole():
    # Errors +1, -1, +1, -1, ... of 20 users: effective number 20, variance 20 * 20 / 19.
    sums = error_sums([1, -1] * 10)
    assert sums.effective_users == 20
    assert sums.standard_error == pytest.approx(np.sqrt(20 * 20 / 19))


def test_one_user_who_decides_alone_has_no_standard_error():
    assert error_sums([0.3]).standard_error is None
    assert error_sums([0.0]).standard_error is None
    assert error_sums([]).standard_error is None


def test_squares_of_sums_beyond_float64_are_no_obstacle():
    # (9e154)**2 and 9 * 1e308 lie outside float64, their ratio does not.
    sums = error_sums([1e77] * 9)
    assert sums.effective_users == pytest.approx(9)
    assert sums.standard_error == pytest.approx(1e77 * np.sqrt(9 * 9 / 8))


@pytest.mark.parametrize("error", [1e200, np.nan, np.inf])
def test_errors_beyond_float64_give_no_interval(error):
    sums = error_sums([1.0] * 9, [error])
    assert (sums.standard_error, sums.effective_users) == (None, 0.0)
    assert t_interval(0.5, sums.standard_error, sums.effective_users) is None


@pytest.mark.parametrize("confidence", [CONFIDENCE, 0.9])
def test_interval_is_students_t_at_one_less_than_the_effective_users(confidence):
    low, high = t_interval(3.0, 0.2, 12.5, confidence)
    expected = stats.t.interval(confidence, 11.5, 3.0, 0.2)
    assert (low, high) == pytest.approx(expected)


def test_no_interval_and_no_tail_below_five_effective_users():
    assert t_interval(0.5, 0.1, 4.99) is None
    assert t_tail(0.5, 0.1, 4.99) is None
    assert t_interval(0.5, 0.1, 5.0) is not None
    assert t_tail(0.5, 0.1, 5.0) is not None


def test_no_interval_and_no_tail_without_a_standard_error():
    assert t_interval(0.5, None, 100.0) is None
    assert t_tail(0.5, None, 100.0) is None


def test_only_a_change_of_zero_may_be_certain():
    assert t_interval(0.0, 0.0, 0.0) == (0.0, 0.0)
    assert t_interval(0.5, 0.0, 0.0) is None


@pytest.mark.parametrize("distance", [-0.3, 0.0, 0.4])
def test_tail_is_the_chance_to_lie_that_far_beyond(distance):
    expected = stats.t.sf(distance / 0.2, 11.5)
    assert t_tail(distance, 0.2, 12.5) == pytest.approx(expected)


def test_interval_of_a_ratio_covers_the_truth():
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        rows = np.minimum(rng.pareto(2.0, 1000) * 5 + 1, 60).astype(int)
        rates = rng.beta(2, 18, 1000)  # mean 0.1 whatever the activity
        clicks = rng.binomial(rows, rates)
        ratio = clicks.sum() / rows.sum()
        sums = error_sums((clicks - ratio * rows) / rows.sum())
        low, high = t_interval(ratio, sums.standard_error, sums.effective_users)
        hits += low <= 0.1 <= high
    # 95 % of 400 with a standard error of 1.1 %.
    assert 0.915 <= hits / 400 <= 0.985

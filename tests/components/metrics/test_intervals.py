"""Standard errors against direct sums over users, and coverage by simulation."""

import numpy as np
import pytest
from scipy import stats

from components.metrics.intervals import PairMoments


def moments(a, b):
    sums = PairMoments()
    sums.add(np.asarray(a, float), np.asarray(b, float))
    return sums


def test_interval_equals_direct_sums_over_users():
    rng = np.random.default_rng(0)
    b = rng.pareto(4, 60) + 1
    a = b * rng.random(60)
    ratio = a.sum() / b.sum()
    errors = (a - ratio * b) / b.sum()
    effective = (errors**2).sum() ** 2 / (errors**4).sum()
    t = stats.t.ppf(0.975, effective - 1)
    half = t * np.sqrt((errors**2).sum() * effective / (effective - 1))
    spread = moments(a, b).ratio_spread()
    assert spread.effective_users == pytest.approx(effective)
    low, high = spread.interval(ratio)
    assert (low, high) == (pytest.approx(ratio - half), pytest.approx(ratio + half))


def test_equal_users_count_whole():
    # Errors +1, -1, +1, -1, ... of 20 users of one size: effective number 20.
    spread = moments([1, 0] * 10, [1] * 20).ratio_spread()
    assert spread.effective_users == pytest.approx(20)


def test_no_interval_below_five_effective_users():
    assert moments([1, 0, 1, 0], [1, 1, 1, 1]).ratio_spread().interval(0.5) is None


def test_sums_beyond_float64_give_no_interval():
    sums = moments([1e200] * 9, [1.0] * 9)
    assert sums.ratio_spread() is None


def test_interval_of_a_ratio_covers_the_truth():
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        rows = np.minimum(rng.pareto(2.0, 2000) * 5 + 1, 60).astype(int)
        rates = rng.beta(2, 18, 2000)  # mean 0.1 whatever the activity
        clicks = rng.binomial(rows, rates)
        low, high = (
            moments(clicks, rows).ratio_spread().interval(clicks.sum() / rows.sum())
        )
        hits += low <= 0.1 <= high
    # 95 % of 400 with a standard error of 1.1 %.
    assert 0.915 <= hits / 400 <= 0.985

"""The divergence, and that chance alone rarely exceeds its allowance."""

import math

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from components.data_checks.codes import CODES, number_codes
from components.data_checks.distinct import DistinctCounter
from components.data_checks.divergence import divergence, jensen_shannon

ALPHA = 0.01
# Of 100 samples without a change one exceeds its allowance on average; more than seven
# do with a probability of 1.4e-5 (binomial).
MOST_ALARMS = 7


def counts(codes):
    return np.bincount(codes, minlength=CODES)


def compare(before, after, *, ordered=False, alpha=ALPHA):
    draws = (float(len(before)), float(len(after)))
    return divergence(
        counts(before), counts(after), draws, ordered=ordered, alpha=alpha
    )


def test_divergence_by_hand():
    # One is all in the first cell, the other one half in each: the middle has 3/4.
    expected = (math.log2(4 / 3) + (math.log2(2 / 3) + 1) / 2) / 2
    p, q = np.asarray([1.0, 0.0]), np.asarray([0.5, 0.5])
    assert jensen_shannon(p, q) == pytest.approx(expected)
    assert jensen_shannon(q, p) == pytest.approx(expected)
    assert jensen_shannon(q, q) == 0.0
    assert jensen_shannon(p, 1 - p) == 1.0


def test_samples_of_one_size_have_the_divergence_of_the_g_test():
    before, after = (
        np.repeat([0, 1, 2], [50, 30, 20]),
        np.repeat([0, 1, 2], [40, 35, 25]),
    )
    found = compare(before, after)
    table = [np.bincount(before), np.bincount(after)]
    g = chi2_contingency(table, correction=False, lambda_="log-likelihood")[0]
    factor = 8 * math.log(2) * 100 * 100 / 200
    assert found.bits * factor == pytest.approx(g)
    assert found.chance * factor == pytest.approx(chi2.isf(ALPHA, 2))


def test_the_code_that_moved_most_is_named_with_its_shares():
    found = compare(np.repeat([7, 8], [80, 20]), np.repeat([7, 8, 9], [30, 30, 40]))
    assert found.code == 7
    assert found.shares == (0.8, 0.3)


def test_rare_codes_are_compared_as_one_cell():
    # Each of them is expected in less than five rows of either sample.
    before, after = np.arange(100), np.arange(100, 200)
    found = compare(before, after)
    assert found.bits == 0.0
    assert found.chance == 0.0
    assert found.code is None


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("sizes", [(1000, 1000), (1800, 200)])
def test_samples_of_one_distribution_rarely_alarm(ordered, sizes):
    alarms = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        if ordered:
            samples = [number_codes(random.lognormal(size=n), 1.0) for n in sizes]
        else:
            # A long tail, as of items: half of the rows have rare ones.
            samples = [np.minimum(random.zipf(1.5, size=n), 50_000) for n in sizes]
        found = compare(*samples, ordered=ordered)
        alarms += found.bits > found.chance
    assert alarms <= MOST_ALARMS


@pytest.mark.parametrize("ordered", [False, True])
def test_a_shift_of_two_thousand_rows_alarms(ordered):
    random = np.random.default_rng(0)
    if ordered:
        before = number_codes(random.normal(size=1000), 0.0)
        after = number_codes(random.normal(1.0, size=1000), 0.0)
    else:
        before = random.choice(3, p=[0.6, 0.3, 0.1], size=1000)
        after = random.choice(3, p=[0.2, 0.3, 0.5], size=1000)
    found = compare(before, after, ordered=ordered)
    assert found.bits > 0.05 + found.chance


def test_rows_of_few_users_allow_for_more_chance():
    before, after = np.repeat([0, 1], 500), np.repeat([0, 1], [400, 600])
    by_row = compare(before, after)
    by_user = divergence(
        counts(before), counts(after), (100.0, 100.0), ordered=False, alpha=ALPHA
    )
    assert by_user.bits == by_row.bits
    assert by_user.chance == pytest.approx(10 * by_row.chance)


def test_distinct_values_are_counted_over_several_counters():
    import pyarrow as pa

    first, second = DistinctCounter(), DistinctCounter()
    first.add(pa.array([b"%d" % i for i in range(6000)] * 2, pa.binary()))
    second.add(pa.array([b"%d" % i for i in range(3000, 9000)], pa.binary()))
    # Standard error of linear counting with few values in many cells: n / sqrt(2 m).
    assert DistinctCounter.of([first]) == pytest.approx(6000, abs=4 * 6000 / 1448)
    assert DistinctCounter.of([first, second]) == pytest.approx(
        9000, abs=4 * 9000 / 1448
    )

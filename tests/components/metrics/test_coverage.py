"""Intervals hold the truth as often as they say, on logs of a known population."""

import math

import numpy as np
import pytest

from benchmarks.coverage import TARGETS, bar_of, measure, truth_of
from benchmarks.simulated_clicks import PCOPS, Population

SETS, USERS = 400, 2000
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def population():
    return Population(click_rate=0.04, tail=2.5)


@pytest.fixture(scope="module")
def truth(population):
    values, errors = truth_of(population, parts=4)
    named = zip(TARGETS, values.tolist(), errors.tolist(), strict=True)
    return {name: (value, error) for name, value, error in named}


@pytest.fixture(scope="module")
def found(population, truth):
    values = np.array([value for value, _ in truth.values()])
    return measure(population, USERS, SETS, values)


def test_simulated_models_have_the_calibration_that_they_were_given(truth):
    candidate, baseline = PCOPS
    value, error = truth["pcop"]
    assert value == pytest.approx(candidate, abs=5 * error + 0.002)
    value, error = truth["delta_log_pcop"]
    assert value == pytest.approx(math.log(candidate / baseline), abs=5 * error + 0.002)


@pytest.mark.parametrize("target", TARGETS)
def test_intervals_hold_the_truth_as_often_as_they_say(found, target):
    low, high = bar_of(target, USERS)
    by_chance = 2 * math.sqrt(0.95 * 0.05 / SETS)
    assert low - by_chance <= found[target]["coverage"] <= high + by_chance


@pytest.mark.parametrize("target", TARGETS)
def test_intervals_are_as_wide_as_the_estimates_vary(found, target):
    # Three standard errors of a standard deviation are 3 / sqrt(2 * 400) = 11 %,
    # and Student's t widens intervals of few effective users.
    assert 0.89 <= found[target]["width"] <= 1.25

"""Functions of exact arithmetic against the standard library."""

import math

import numpy as np
import pytest

from data.simulator import exact


def test_exp_is_accurate() -> None:
    values = np.r_[np.linspace(-700, 700, 5_001), np.linspace(-1, 1, 5_001)]
    expected = np.array([math.exp(value) for value in values])
    assert np.abs(exact.exp(values) / expected - 1).max() < 1e-15


def test_exp_far_below_is_zero() -> None:
    assert exact.exp(np.array([-800.0, -9_000.0])).tolist() == [0.0, 0.0]


def test_one_and_one_half_are_exact() -> None:
    assert exact.exp(np.array([0.0])).tolist() == [1.0]
    assert exact.sigmoid(np.array([0.0])).tolist() == [0.5]


def test_normal_has_the_moments_of_a_normal() -> None:
    values = exact.normal(exact.stream(0), (200_000,))
    # Standard errors at n = 200,000: mean 0.0022, variance 0.0032.
    assert abs(values.mean()) < 4 * 0.0022
    assert abs(values.var() - 1) < 4 * 0.0032
    assert np.abs(values).max() <= 6


def test_streams_differ_by_every_number_of_their_path() -> None:
    draws = {
        exact.stream(*path).random()
        # The last seed has the words 0 and 1.
        for path in ((0,), (1,), (0, 0), (0, 1), (0, 1, 1), (2**32,))
    }
    assert len(draws) == 6
    assert exact.stream(3, 1).random() == exact.stream(3, 1).random()


def test_choose_draws_by_weight_and_never_weight_zero() -> None:
    weights = np.array([0.0, 1.0, 3.0, 0.0])
    drawn = exact.choose(exact.stream(0), weights, 40_000)
    assert set(drawn.tolist()) == {1, 2}
    # Binomial: 40,000 draws at 3/4, standard error 0.0022.
    assert (drawn == 2).mean() == pytest.approx(0.75, abs=4 * 0.0022)


def test_sums_agree_with_exact_summation() -> None:
    values = exact.stream(1).random(10_000)
    assert exact.total(values) == pytest.approx(math.fsum(values), rel=1e-12)
    assert exact.std(values) == pytest.approx(float(np.std(values)), rel=1e-12)

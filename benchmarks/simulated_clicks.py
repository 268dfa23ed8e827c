"""Click logs drawn from a known population, with the scores of two models.

A user has a number of rows (Pareto, cut off at ``MOST_ROWS``) and a taste; heavy users
click a little less. A row adds the appeal of its item. Both models see taste and appeal
through noise, most of it common to both.
"""

import dataclasses

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from components.metrics.columns import Columns

Floats = NDArray[np.float64]

# Most rows of one user; the mean is about 8 with either tail.
MOST_ROWS = 500
FEWEST_ROWS = {1.5: 3.2, 2.5: 5.2}
# Standard deviations on the logit scale: what is true, and what hides it.
TASTE, TASTE_NOISE = 0.8, 0.8
APPEAL, APPEAL_NOISE = 1.0, 0.7
# What the baseline's noise adds to the candidate's.
MORE_NOISE = 0.4
# Change of the logit with the logarithm of the user's rows.
HEAVY_USERS = -0.15
# PCOP of the candidate and of the baseline.
PCOPS = (1.03, 0.98)
_CALIBRATION_USERS = 200_000


@dataclasses.dataclass(frozen=True, slots=True)
class _Draw:
    """A log before its clicks; logits lack their intercepts.

    Attributes:
        users: int64 [rows].
        logits: float64 [rows], true ones.
        scores: float64 [rows] each, logits of the candidate and of the baseline.
    """

    users: NDArray[np.int64]
    logits: Floats
    scores: tuple[Floats, Floats]


class Population:
    """Users, their clicks, and how two models see them."""

    def __init__(self, click_rate: float, tail: float) -> None:
        """Finds the intercepts that give the click rate and ``PCOPS``.

        Args:
            click_rate: share of clicks over all rows.
            tail: Pareto index of the rows of a user; a key of ``FEWEST_ROWS``.
        """
        self._tail = tail
        draw = self._draw(_CALIBRATION_USERS, np.random.default_rng(0))
        self._intercept = _intercept(draw.logits, click_rate)
        self._score_intercepts = [
            _intercept(scores, click_rate * pcop)
            for scores, pcop in zip(draw.scores, PCOPS, strict=True)
        ]

    def sample(self, users: int, rng: np.random.Generator) -> Columns:
        """Draws a log.

        Args:
            users: number of users.
            rng: source of chance.

        Returns:
            Rows with the scores of the candidate and of the baseline.
        """
        draw = self._draw(users, rng)
        chance = _sigmoid(draw.logits + self._intercept)
        candidate, baseline = (
            _sigmoid(scores + intercept)
            for scores, intercept in zip(
                draw.scores, self._score_intercepts, strict=True
            )
        )
        labels = rng.random(len(chance)) < chance
        return Columns(draw.users, labels, candidate, baseline=baseline)

    def _draw(self, count: int, rng: np.random.Generator) -> _Draw:
        """Draws rows and what the models see of them."""
        sizes = FEWEST_ROWS[self._tail] * (1.0 + rng.pareto(self._tail, count))
        rows = np.minimum(sizes, MOST_ROWS).astype(np.int64)
        users = np.repeat(np.arange(count), rows)
        heavy = HEAVY_USERS * np.log(rows)
        taste = rng.normal(0.0, TASTE, count)
        appeal = rng.normal(0.0, APPEAL, len(users))
        seen_taste = taste + rng.normal(0.0, TASTE_NOISE, count)
        seen_appeal = appeal + rng.normal(0.0, APPEAL_NOISE, len(users))
        less_taste = seen_taste + rng.normal(0.0, MORE_NOISE, count)
        less_appeal = seen_appeal + rng.normal(0.0, MORE_NOISE, len(users))
        return _Draw(
            users,
            (heavy + taste)[users] + appeal,
            (
                (heavy + _slope(TASTE, TASTE_NOISE) * seen_taste)[users]
                + _slope(APPEAL, APPEAL_NOISE) * seen_appeal,
                (heavy + _slope(TASTE, TASTE_NOISE, MORE_NOISE) * less_taste)[users]
                + _slope(APPEAL, APPEAL_NOISE, MORE_NOISE) * less_appeal,
            ),
        )


def _slope(signal: float, *noises: float) -> float:
    """Regression slope of a signal on its noisy reading: what a model would learn."""
    return signal**2 / (signal**2 + sum(noise**2 for noise in noises))


def _sigmoid(logits: Floats) -> Floats:
    """Probabilities of logits."""
    return 1.0 / (1.0 + np.exp(-logits))


def _intercept(logits: Floats, mean: float) -> float:
    """What to add to logits so that their probabilities have this mean."""
    return float(brentq(lambda add: _sigmoid(logits + add).mean() - mean, -15.0, 5.0))

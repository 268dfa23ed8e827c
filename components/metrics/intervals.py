"""Intervals with the user as the unit, from each user's share of the error."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from components.metrics.exact import UNIT_BITS, exact_sums, to_float

Interval = tuple[float, float]

CONFIDENCE = 0.95
# Below this many effective users the t interval no longer covers what it says.
FEWEST_USERS = 5.0


@dataclasses.dataclass(slots=True)
class ErrorSums:
    """Exact sums of e**2 and e**4 over users, e being a user's share of the error.

    The error of an estimate is, to first order, a sum of one term a user (its influence
    on the estimate); the terms of different users are independent.

    Attributes:
        squares: sum of e**2, as :func:`~components.metrics.exact.exact_sums` gives it.
        fourths: sum of e**4.
        finite: False when a term was not finite, or its fourth power left float64.
    """

    squares: int = 0
    fourths: int = 0
    finite: bool = True

    def add(self, errors: NDArray[np.float64]) -> None:
        """Adds users.

        Args:
            errors: float64 [users], each user's term.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            squares = errors * errors
            powers = np.stack([squares, squares * squares])
        if not np.isfinite(powers).all():
            self.finite = False
            return
        squared, fourth = exact_sums(powers)
        self.squares += squared
        self.fourths += fourth

    def merge(self, other: "ErrorSums") -> None:
        """Adds the users of another accumulator.

        Args:
            other: sums over other users.
        """
        self.finite = self.finite and other.finite
        self.squares += other.squares
        self.fourths += other.fourths

    @property
    def effective_users(self) -> float:
        """Number of equal users that would vary as these do: (sum e^2)^2 / sum e^4."""
        if not (self.finite and self.fourths > 0):
            return 0.0
        # Whole numbers, since the squares of the sums may leave float64.
        return self.squares**2 / (self.fourths << UNIT_BITS)

    @property
    def standard_error(self) -> float | None:
        """Root of sum e^2, raised for few users by n / (n - 1); None for a single one.

        A single user always equals the ratio that is made of it alone: that it has no
        error says nothing about other users.
        """
        effective = self.effective_users
        if effective <= 1.0:
            return None
        squares = to_float(self.squares)
        return math.sqrt(squares * effective / (effective - 1.0))


def t_interval(
    value: float,
    standard_error: float | None,
    effective_users: float | None,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Two-sided interval by Student's t at the effective degrees of freedom.

    Args:
        value: the estimate.
        standard_error: its standard error, or None for no interval.
        effective_users: number of effective users, or None for no interval.
        confidence: share of such intervals that hold the truth; 0.9 gives the bounds of
            two one-sided 95 % intervals.

    Returns:
        Lower and upper end; both 0 for a change that is 0 for every single user; None
        below five effective users.

    References:
        Satterthwaite, 1946, for the degrees of freedom; Bell and McCaffrey, 2002, for
        few and unequal clusters.
    """
    if value == 0.0 and standard_error == 0.0:
        return 0.0, 0.0
    if standard_error is None or effective_users is None:
        return None
    if effective_users < FEWEST_USERS:
        return None
    from scipy.special import stdtrit  # 0.1 s to import, and needed only here

    quantile = float(stdtrit(effective_users - 1.0, 0.5 + confidence / 2))
    return value - quantile * standard_error, value + quantile * standard_error


def t_tail(
    distance: float, standard_error: float | None, effective_users: float | None
) -> float | None:
    """Chance that an estimate lies this far beyond the truth, on one side.

    Args:
        distance: estimate less the supposed truth.
        standard_error: standard error of the estimate, or None.
        effective_users: number of effective users, or None.

    Returns:
        The one-sided p-value; None where there is no interval either.
    """
    if standard_error == 0.0:
        return 0.0 if distance > 0 else 1.0
    if standard_error is None or effective_users is None:
        return None
    if effective_users < FEWEST_USERS:
        return None
    from scipy.special import stdtr

    return float(stdtr(effective_users - 1.0, -distance / standard_error))

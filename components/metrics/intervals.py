"""Intervals with the user as the unit, from power sums of two per-user columns."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from components.metrics.exact import exact_sums, to_float

Interval = tuple[float, float]

CONFIDENCE = 0.95
# Below this many effective users the t interval no longer covers what it says.
FEWEST_USERS = 5.0

# Exponents (i, j) of the sums of a**i * b**j that are kept.
_POWERS = (
    (1, 0),
    (0, 1),
    (2, 0),
    (1, 1),
    (0, 2),
    (4, 0),
    (3, 1),
    (2, 2),
    (1, 3),
    (0, 4),
)
_BINOMIAL_4 = (1, 4, 6, 4, 1)


@dataclasses.dataclass(slots=True)
class PairMoments:
    """Exact power sums of two per-user numbers a and b, up to the fourth order.

    They give the linearised standard error of any smooth function of sum(a) and sum(b)
    after a single pass, and add without rounding.
    """

    totals: list[int] = dataclasses.field(default_factory=lambda: [0] * len(_POWERS))
    finite: bool = True

    def add(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
        """Adds users.

        Args:
            a: float64 [users].
            b: float64 [users].
        """
        with np.errstate(over="ignore"):
            a2, b2, ab = a * a, b * b, a * b
            sums = np.stack(
                [a, b, a2, ab, b2, a2 * a2, a2 * ab, ab * ab, ab * b2, b2 * b2]
            )
        if not np.isfinite(sums).all():
            self.finite = False
            sums = np.where(np.isfinite(sums), sums, 0.0)
        self.totals = [
            old + new for old, new in zip(self.totals, exact_sums(sums), strict=True)
        ]

    def merge(self, other: "PairMoments") -> None:
        """Adds the users of another accumulator.

        Args:
            other: sums over other users.
        """
        self.finite = self.finite and other.finite
        self.totals = [
            one + two for one, two in zip(self.totals, other.totals, strict=True)
        ]

    @property
    def sum_a(self) -> float:
        """Sum of a over all users."""
        return to_float(self.totals[0])

    @property
    def sum_b(self) -> float:
        """Sum of b over all users."""
        return to_float(self.totals[1])

    def spread(self, slope_a: float, slope_b: float) -> "Spread | None":
        """Moments of e_u = slope_a a_u + slope_b b_u, the linearised estimate's terms.

        Args:
            slope_a: derivative of the estimate by sum(a).
            slope_b: derivative of the estimate by sum(b).

        Returns:
            The standard error with its effective number of users, or None when a sum
            left the range of float64.
        """
        if not (self.finite and math.isfinite(slope_a) and math.isfinite(slope_b)):
            return None
        first, second = Fraction(slope_a), Fraction(slope_b)
        squares = (
            first * first * self.totals[2]
            + 2 * first * second * self.totals[3]
            + second * second * self.totals[4]
        )
        fourths = sum(
            (
                times * first ** (4 - power) * second**power * total
                for power, (times, total) in enumerate(
                    zip(_BINOMIAL_4, self.totals[5:], strict=True)
                )
            ),
            Fraction(0),
        )
        unit = 1 << 1126
        return Spread(float(squares / unit), float(fourths / unit))

    def ratio_spread(self) -> "Spread | None":
        """Moments of the linearised terms of sum(a) / sum(b)."""
        total = self.sum_b
        if not total > 0:
            return None
        return self.spread(1.0 / total, -self.sum_a / total / total)

    def log_ratio_spread(self) -> "Spread | None":
        """Moments of the linearised terms of log(sum(a) / sum(b))."""
        if not (self.sum_a > 0 and self.sum_b > 0):
            return None
        return self.spread(1.0 / self.sum_a, -1.0 / self.sum_b)


@dataclasses.dataclass(frozen=True, slots=True)
class Spread:
    """Sums of e**2 and e**4 over users, e being a user's share of the error.

    Attributes:
        squares: sum of e**2.
        fourths: sum of e**4.
    """

    squares: float
    fourths: float

    @property
    def effective_users(self) -> float:
        """Number of equal users that would vary as these do: (sum e^2)^2 / sum e^4."""
        if not self.fourths > 0:
            return 0.0
        return self.squares * self.squares / self.fourths

    def interval(self, value: float) -> Interval | None:
        """95 % interval by Student's t at the effective degrees of freedom.

        Args:
            value: the estimate.

        Returns:
            Lower and upper end, or None below five effective users.

        References:
            Satterthwaite, 1946, for the degrees of freedom; Bell and McCaffrey, 2002,
            for few and unequal clusters.
        """
        effective = self.effective_users
        if effective < FEWEST_USERS:
            return None
        from scipy.special import stdtrit  # 0.1 s to import, and needed only here

        freedom = effective - 1.0
        error = math.sqrt(self.squares * effective / freedom)
        half = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * error
        return value - half, value + half

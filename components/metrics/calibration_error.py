"""Predicted against observed clicks over buckets of neighbouring scores."""

import dataclasses
import math

BUCKETS = 10


@dataclasses.dataclass(frozen=True, slots=True)
class Bucket:
    """Rows of neighbouring scores.

    Attributes:
        lowest: smallest score.
        highest: largest score.
        weight: weight of the rows.
        predicted: predicted clicks, the sum of weight times score.
        clicks: weight of the clicks.
        variance: sum of weight times p (1 - p): how much the clicks of rows of weight 1
            would vary if the scores were true.
    """

    lowest: float
    highest: float
    weight: float
    predicted: float
    clicks: float
    variance: float

    def to_json(self) -> dict[str, float]:
        """Returns the bucket as rates, as reports show it."""
        return {
            "lowest": self.lowest,
            "highest": self.highest,
            "weight": self.weight,
            "predicted": self.predicted / self.weight,
            "observed": self.clicks / self.weight,
        }


def calibration_error(buckets: list[Bucket]) -> float | None:
    """Expected calibration error: weighted mean of |predicted - observed rate|.

    Args:
        buckets: from ``pooled.Pooled.calibration``.

    Returns:
        The value, or None without rows.

    References:
        Naeini et al., Obtaining well calibrated probabilities using Bayesian binning,
        2015 (there with buckets of equal width).
    """
    if not buckets:
        return None
    gaps = math.fsum(abs(one.predicted - one.clicks) for one in buckets)
    return gaps / math.fsum(one.weight for one in buckets)


def calibration_error_by_chance(buckets: list[Bucket], spread: float) -> float | None:
    """What the calibration error would be on average if the scores were true.

    The gap of a bucket is then a sum of independent terms of mean 0; its mean size is
    that of a normal variable, sqrt(2 / pi) times the standard deviation, and at most
    twice the smaller of expected clicks and expected non-clicks.

    Args:
        buckets: from ``pooled.Pooled.calibration``.
        spread: sum of squared weights over sum of weights; 1 without weights.

    Returns:
        The value, or None without rows.
    """
    if not buckets:
        return None
    sizes = [
        min(
            math.sqrt(max(2.0 / math.pi * one.variance * spread, 0.0)),
            2.0 * max(min(one.predicted, one.weight - one.predicted), 0.0),
        )
        for one in buckets
    ]
    return math.fsum(sizes) / math.fsum(one.weight for one in buckets)

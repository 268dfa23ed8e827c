"""First sums over all rows of a slice under one model: every metric's value."""

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.metrics.calibration_error import (
    Bucket,
    calibration_error,
    calibration_error_by_chance,
)
from components.metrics.columns import Columns
from components.metrics.exact import exact_sums, to_float
from components.metrics.pooled import Pooled
from components.metrics.score_histogram import ScoreHistogram
from components.metrics.user_sums import UserSums

Floats = NDArray[np.float64]

_SUMS = (
    "ordered",
    "mass",
    "predicted",
    "clicks",
    "loss",
    "weight",
    "squared_weight",
)


@dataclasses.dataclass(slots=True)
class ModelTotals:
    """Exact sums over the users so far.

    Attributes:
        sums: by name: ``ordered`` (mass times AUC) and ``mass`` of the users scored,
            ``predicted`` and observed ``clicks``, log ``loss``, ``weight`` and
            ``squared_weight``; None where a user's sum left the range of float64.
        histograms: clicks by score; several until they are merged.
        outside_unit: predictions outside [0, 1].
    """

    sums: dict[str, int | None] = dataclasses.field(
        default_factory=lambda: dict.fromkeys(_SUMS, 0)
    )
    histograms: list[ScoreHistogram] = dataclasses.field(default_factory=list)
    outside_unit: int = 0

    @classmethod
    def of(
        cls, columns: Columns, scores: Floats, users: UserSums, rows: ScoreHistogram
    ) -> "ModelTotals":
        """Sums the rows of some users.

        Args:
            columns: the rows.
            scores: float64 [rows], their predictions.
            users: their sums by user.
            rows: their clicks by score.

        Returns:
            The sums.
        """
        scored = users.scored
        mass = np.where(scored, users.mass, 0.0)
        weights = columns.weights
        with np.errstate(over="ignore", invalid="ignore"):
            values = (
                mass * np.where(scored, users.auc, 0.0),
                mass,
                users.predicted,
                users.click_weight,
                users.loss,
                users.weight,
                users.weight if weights is None else weights * weights,
            )
        sums = {name: _exact(one) for name, one in zip(_SUMS, values, strict=True)}
        outside = int(np.count_nonzero((scores < 0) | (scores > 1)))
        return cls(sums, [rows], outside)

    def merge(self, other: "ModelTotals", score_limit: int | None = None) -> None:
        """Adds the sums of other users.

        Args:
            other: sums over other users.
            score_limit: about how many distinct scores to hold; None for all.
        """
        for name, total in self.sums.items():
            more = other.sums[name]
            self.sums[name] = None if total is None or more is None else total + more
        self.histograms.extend(other.histograms)
        self.outside_unit += other.outside_unit
        held = sum(len(one.scores) for one in self.histograms)
        # Joining sorts all scores, so it waits until there are twice as many.
        if score_limit is not None and held > 2 * score_limit:
            self.compact(score_limit)

    def compact(self, limit: int | None) -> None:
        """Joins the histograms into one.

        Args:
            limit: most distinct scores to keep, or None for no limit.
        """
        over = limit is not None and any(
            len(one.scores) > limit for one in self.histograms
        )
        if len(self.histograms) > 1 or over:
            self.histograms = [ScoreHistogram.merged(self.histograms, limit)]

    @property
    def histogram(self) -> ScoreHistogram:
        """Clicks by score over all rows; :meth:`compact` was called."""
        (histogram,) = self.histograms
        return histogram


@dataclasses.dataclass(frozen=True, slots=True)
class ModelValues:
    """Value of each metric of one model, None where it is undefined.

    Attributes:
        values: by names of ``METRICS``.
        mass: mass of the users scored.
        predicted: predicted clicks.
        clicks: weight of the clicks.
        weight: weight of the rows.
        outside_unit: predictions outside [0, 1].
        ece_by_chance: what ``ece`` would be if the scores were true.
        auc_bound: largest error of ``auc`` from cut scores; 0 while they are exact.
        calibration: buckets of equal weight.
        curves: points for drawing.
    """

    values: dict[str, float | None]
    mass: float
    predicted: float
    clicks: float
    weight: float
    outside_unit: int
    ece_by_chance: float | None
    auc_bound: float
    calibration: list[Bucket]
    curves: dict[str, Any]

    @property
    def click_rate(self) -> float:
        """Share of clicks, by weight; 0 without rows."""
        return self.clicks / self.weight if self.weight > 0 else 0.0

    @property
    def entropy(self) -> float | None:
        """Entropy of the slice's own click rate in nats; None for one class only."""
        return _entropy(self.click_rate)


def model_values(totals: ModelTotals) -> ModelValues:
    """Computes every metric of one model.

    Args:
        totals: sums over all rows of the slice, compacted.

    Returns:
        The values with the sums that they were made from.
    """
    sums = {name: _rounded(total) for name, total in totals.sums.items()}
    pooled = Pooled(totals.histogram)
    pcop = _ratio(sums["predicted"], sums["clicks"])
    values: dict[str, float | None] = {
        "gauc": _ratio(sums["ordered"], sums["mass"]),
        "pcop": pcop,
        "auc": pooled.auc,
        "log_loss": None,
        "normalized_entropy": None,
        "ece": None,
        "pr_auc": pooled.pr_auc(),
        "abs_log_pcop": abs(math.log(pcop)) if pcop is not None and pcop > 0 else None,
    }
    by_chance = None
    if not totals.outside_unit:  # the scores are probabilities
        log_loss = _ratio(sums["loss"], sums["weight"])
        entropy = _entropy(_ratio(sums["clicks"], sums["weight"]) or 0.0)
        values["log_loss"] = log_loss
        if log_loss is not None and entropy is not None:
            values["normalized_entropy"] = log_loss / entropy
        values["ece"] = calibration_error(pooled.calibration)
        spread = _ratio(sums["squared_weight"], sums["weight"])
        by_chance = calibration_error_by_chance(pooled.calibration, spread or 0.0)
    return ModelValues(
        values=values,
        mass=sums["mass"],
        predicted=sums["predicted"],
        clicks=sums["clicks"],
        weight=sums["weight"],
        outside_unit=totals.outside_unit,
        ece_by_chance=by_chance,
        auc_bound=pooled.auc_bound(),
        calibration=pooled.calibration,
        curves=pooled.curves(),
    )


def _entropy(rate: float) -> float | None:
    """Entropy of a rate in nats; None at 0 and 1."""
    if not 0.0 < rate < 1.0:
        return None
    return -(rate * math.log(rate) + (1 - rate) * math.log1p(-rate))


def _exact(values: Floats) -> int | None:
    """Exact sum of some users' values; None when one is not finite."""
    return exact_sums(values[None, :])[0] if np.isfinite(values).all() else None


def _rounded(total: int | None) -> float:
    """A sum as float64; NaN when it has none."""
    try:
        return math.nan if total is None else to_float(total)
    except OverflowError:
        return math.nan


def _ratio(above: float, below: float) -> float | None:
    """A ratio; None where the lower sum is not positive, or where it is not finite."""
    ratio = above / below if below > 0 else math.nan
    return ratio if math.isfinite(ratio) else None

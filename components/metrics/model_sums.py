"""Sums behind the metrics of one model, and behind the change between two."""

import dataclasses
import math

import numpy as np

from components.metrics.intervals import Interval, PairMoments, Spread
from components.metrics.names import METRICS
from components.metrics.results import (
    SIGN_UNRESOLVED,
    Counts,
    Estimate,
    undefined_reason,
)
from components.metrics.score_histogram import ScoreHistogram
from components.metrics.user_sums import UserSums


@dataclasses.dataclass(slots=True)
class ModelSums:
    """What the metrics of one model in one slice need, over all users so far.

    Attributes:
        gauc: moments of (mass * AUC, mass) of the users scored.
        pcop: moments of (predicted, observed clicks).
        loss: moments of (log loss, weight).
        histograms: clicks by score; several until they are read or merged.
        rows_outside_unit: predictions outside [0, 1].
    """

    gauc: PairMoments = dataclasses.field(default_factory=PairMoments)
    pcop: PairMoments = dataclasses.field(default_factory=PairMoments)
    loss: PairMoments = dataclasses.field(default_factory=PairMoments)
    histograms: list[ScoreHistogram] = dataclasses.field(default_factory=list)
    rows_outside_unit: int = 0

    def add(self, users: UserSums, histogram: ScoreHistogram) -> None:
        """Adds users and their scores."""
        scored = users.known & np.isfinite(users.auc)
        mass = users.mass[scored]
        self.gauc.add(mass * users.auc[scored], mass)
        self.pcop.add(users.predicted, users.click_weight)
        self.loss.add(users.loss, users.weight)
        self.histograms.append(histogram)

    def merge(self, other: "ModelSums") -> None:
        """Adds the sums of other users."""
        self.gauc.merge(other.gauc)
        self.pcop.merge(other.pcop)
        self.loss.merge(other.loss)
        self.histograms.extend(other.histograms)
        self.rows_outside_unit += other.rows_outside_unit

    def compact(self) -> None:
        """Joins the histograms into one."""
        if len(self.histograms) > 1:
            self.histograms = [ScoreHistogram.merged(self.histograms)]

    def estimates(self, counts: Counts, user_declared: bool) -> dict[str, Estimate]:
        """Computes every metric of ``METRICS``.

        Args:
            counts: rows, clicks and users of the slice.
            user_declared: whether the data names a user id column.

        Returns:
            One estimate a metric; undefined ones carry their reason.
        """
        self.compact()
        values: dict[str, tuple[float | None, Interval | None]] = dict.fromkeys(
            METRICS, (None, None)
        )
        values["gauc"] = _ratio(self.gauc)
        values["pcop"], values["abs_log_pcop"] = _calibration(self.pcop)
        if self.histograms:
            histogram = self.histograms[0]
            values["auc"] = histogram.auc(), None
            values["pr_auc"] = histogram.pr_auc(), None
            if not self.rows_outside_unit:
                values["ece"] = histogram.ece(), None
        if not self.rows_outside_unit:
            values["log_loss"] = _ratio(self.loss)
            values["normalized_entropy"] = self._normalized_entropy(), None
        own = dataclasses.replace(counts, rows_outside_unit=self.rows_outside_unit)
        return {
            name: Estimate(None, reason=undefined_reason(name, own, user_declared))
            if value is None
            else Estimate(value, ends)
            for name, (value, ends) in values.items()
        }

    def _normalized_entropy(self) -> float | None:
        """Log loss over the entropy of the slice's own click rate."""
        weight, clicks = self.loss.sum_b, self.pcop.sum_b
        rate = clicks / weight if weight > 0 else 0.0
        if not 0.0 < rate < 1.0:
            return None
        entropy = -(rate * math.log(rate) + (1 - rate) * math.log1p(-rate))
        return self.loss.sum_a / weight / entropy


@dataclasses.dataclass(slots=True)
class PairedSums:
    """What the paired change of two models on the same users needs.

    Attributes:
        gauc: moments of (mass * change of AUC, mass).
        loss: moments of (change of log loss, weight).
        pcop: moments of (change of predicted clicks, observed clicks).
        log_pcop: moments of (candidate's, baseline's predicted clicks).
    """

    gauc: PairMoments = dataclasses.field(default_factory=PairMoments)
    loss: PairMoments = dataclasses.field(default_factory=PairMoments)
    pcop: PairMoments = dataclasses.field(default_factory=PairMoments)
    log_pcop: PairMoments = dataclasses.field(default_factory=PairMoments)

    def add(self, candidate: UserSums, baseline: UserSums) -> None:
        """Adds users; both arguments hold the same users in the same order."""
        scored = candidate.known & np.isfinite(candidate.auc)
        mass = candidate.mass[scored]
        self.gauc.add(mass * (candidate.auc - baseline.auc)[scored], mass)
        self.loss.add(candidate.loss - baseline.loss, candidate.weight)
        change = candidate.predicted - baseline.predicted
        self.pcop.add(change, candidate.click_weight)
        self.log_pcop.add(candidate.predicted, baseline.predicted)

    def merge(self, other: "PairedSums") -> None:
        """Adds the sums of other users."""
        self.gauc.merge(other.gauc)
        self.loss.merge(other.loss)
        self.pcop.merge(other.pcop)
        self.log_pcop.merge(other.log_pcop)

    def changes(
        self, candidate: dict[str, Estimate], baseline: dict[str, Estimate]
    ) -> dict[str, Estimate]:
        """Computes candidate less baseline of every metric.

        Args:
            candidate: estimates of the candidate.
            baseline: estimates of the baseline.

        Returns:
            One estimate a metric and ``log_pcop``, with a paired interval for GAUC, log
            loss, PCOP and log PCOP. The change of ``abs_log_pcop`` has a kink at 0, so
            it is given only where both models' intervals exclude it.
        """
        changes = {
            name: _difference(candidate[name], baseline[name]) for name in METRICS
        }
        paired = {"gauc": self.gauc, "log_loss": self.loss, "pcop": self.pcop}
        for name, moments in paired.items():
            if changes[name].value is not None:
                value, ends = _ratio(moments)
                changes[name] = Estimate(value, ends)
        if changes["abs_log_pcop"].value is None:
            changes["log_pcop"] = changes["abs_log_pcop"]
            return changes
        log_change = math.log(self.log_pcop.sum_a) - math.log(self.log_pcop.sum_b)
        ends = _ends(log_change, self.log_pcop.log_ratio_spread())
        changes["log_pcop"] = Estimate(log_change, ends)
        if not (_off_one(candidate["pcop"]) and _off_one(baseline["pcop"])):
            changes["abs_log_pcop"] = Estimate(None, reason=SIGN_UNRESOLVED)
        return changes


def _ends(value: float, spread: Spread | None) -> Interval | None:
    """Interval of an estimate; of width 0 where no user differs at all from 0."""
    if spread is None:
        return None
    if value == 0.0 and spread.squares == 0.0:
        return 0.0, 0.0
    return spread.interval(value)


def _ratio(moments: PairMoments) -> tuple[float | None, Interval | None]:
    """Sum(a) / sum(b) with its interval; undefined when sum(b) is not positive."""
    if not (moments.finite and moments.sum_b > 0):
        return None, None
    value = moments.sum_a / moments.sum_b
    return value, _ends(value, moments.ratio_spread())


def _calibration(
    moments: PairMoments,
) -> tuple[tuple[float | None, Interval | None], tuple[float | None, Interval | None]]:
    """PCOP and |log PCOP|; intervals are made on the log scale, where they are even."""
    if not (moments.finite and moments.sum_b > 0):
        return (None, None), (None, None)
    pcop = moments.sum_a / moments.sum_b
    if not pcop > 0:
        return (pcop, None), (None, None)
    log_pcop = math.log(pcop)
    spread = moments.log_ratio_spread()
    ends = None if spread is None else spread.interval(log_pcop)
    if ends is None:
        return (pcop, None), (abs(log_pcop), None)
    low, high = ends
    near = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    far = max(abs(low), abs(high))
    return (pcop, (math.exp(low), math.exp(high))), (abs(log_pcop), (near, far))


def _difference(candidate: Estimate, baseline: Estimate) -> Estimate:
    """Candidate less baseline, undefined with the reason of the undefined one."""
    if candidate.value is None:
        return Estimate(None, reason=candidate.reason)
    if baseline.value is None:
        return Estimate(None, reason=f"baseline: {baseline.reason}")
    return Estimate(candidate.value - baseline.value)


def _off_one(pcop: Estimate) -> bool:
    """Whether the interval of PCOP excludes 1."""
    return pcop.ci95 is not None and not pcop.ci95[0] <= 1.0 <= pcop.ci95[1]

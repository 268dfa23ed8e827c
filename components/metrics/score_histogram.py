"""Clicks and non-clicks by score: what pooled AUC, PR-AUC and calibration need."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SIGN_FREE = np.int64(0x7FFF_FFFF_FFFF_FFFF)


@dataclasses.dataclass(frozen=True, slots=True)
class ScoreHistogram:
    """Weight of clicks and non-clicks at each distinct score, ascending.

    Exact while the distinct scores fit ``limit``. Beyond it, scores are cut to their
    leading bits, as few bits less as make them fit. The state depends on the set of
    rows only, not on their order or split; :meth:`auc_bound` says what it may cost.

    Attributes:
        scores: float64 [distinct], ascending.
        clicks: float64 [distinct], weight of the clicks at each score.
        others: float64 [distinct], weight of the non-clicks at each score.
        cut_bits: low bits of the score that were dropped; 0 means exact.
        limit: most distinct scores to hold, or None for no limit.
    """

    scores: Floats
    clicks: Floats
    others: Floats
    cut_bits: int = 0
    limit: int | None = None

    @classmethod
    def of(
        cls,
        scores: Floats,
        labels: NDArray[np.bool_],
        weights: Floats | None,
        limit: int | None = None,
    ) -> "ScoreHistogram":
        """Counts rows by score.

        Args:
            scores: float64 [rows], finite, without -0.0.
            labels: bool [rows].
            weights: float64 [rows], or None to count rows.
            limit: most distinct scores to hold, or None for no limit.

        Returns:
            The histogram of these rows.
        """
        # With weights the full key fixes the order in which ties are added.
        order = (
            np.argsort(scores, kind="stable")
            if weights is None
            else np.lexsort((weights, labels, scores))
        )
        one = np.ones(len(scores)) if weights is None else weights[order]
        clicks = np.where(labels[order], one, 0.0)
        return _build(scores[order], clicks, one - clicks, 0, limit)

    @classmethod
    def merged(cls, parts: Sequence["ScoreHistogram"]) -> "ScoreHistogram":
        """Adds histograms of disjoint rows.

        Args:
            parts: at least one histogram, all of the same limit.

        Returns:
            The histogram of all rows.
        """
        if len(parts) == 1:
            return parts[0]
        scores = np.concatenate([part.scores for part in parts])
        cut_bits = max(part.cut_bits for part in parts)
        scores = _cut(scores, cut_bits)
        order = np.argsort(scores, kind="stable")
        clicks = np.concatenate([part.clicks for part in parts])[order]
        others = np.concatenate([part.others for part in parts])[order]
        return _build(scores[order], clicks, others, cut_bits, parts[0].limit)

    def auc(self) -> float | None:
        """Pooled AUC: the share of click and non-click pairs in order, ties one half.

        Returns:
            The value, or None without clicks or without non-clicks.
        """
        pairs = self.clicks.sum() * self.others.sum()
        if not pairs > 0:
            return None
        below = np.cumsum(self.others) - self.others
        return float((self.clicks * (below + 0.5 * self.others)).sum() / pairs)

    def auc_bound(self) -> float:
        """Largest error of :meth:`auc` from cut scores; 0 while scores are exact."""
        pairs = self.clicks.sum() * self.others.sum()
        if self.cut_bits == 0 or not pairs > 0:
            return 0.0
        return float(0.5 * (self.clicks * self.others).sum() / pairs)

    def pr_auc(self) -> float | None:
        """Average precision: sum over thresholds of recall gained times precision.

        Returns:
            The value, or None without clicks.
        """
        total = self.clicks.sum()
        if not total > 0:
            return None
        found = np.cumsum(self.clicks[::-1])
        shown = np.cumsum((self.clicks + self.others)[::-1])
        return float((self.clicks[::-1] * found / shown).sum() / total)

    def ece(self, buckets: int = 10) -> float | None:
        """Expected calibration error over buckets of equal weight.

        The sum over buckets of |predicted clicks - clicks|, over all weight. A score
        belongs to the bucket that the middle of its weight falls into, so that equal
        scores stay together.

        Args:
            buckets: number of buckets.

        Returns:
            The value, or None without rows.

        References:
            Naeini et al., Obtaining well calibrated probabilities using Bayesian
            binning, 2015 (there with buckets of equal width).
        """
        weight = self.clicks + self.others
        total = weight.sum()
        if not total > 0:
            return None
        middle = np.cumsum(weight) - 0.5 * weight
        bucket = np.minimum(middle / total * buckets, buckets - 1).astype(np.int64)
        predicted = np.bincount(bucket, weight * self.scores, buckets)
        clicked = np.bincount(bucket, self.clicks, buckets)
        return float(np.abs(predicted - clicked).sum() / total)


def _build(
    scores: Floats, clicks: Floats, others: Floats, cut_bits: int, limit: int | None
) -> ScoreHistogram:
    """Joins equal neighbours of sorted scores, cutting bits until the limit holds."""
    while True:
        start = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]][: len(scores)])
        if limit is None or len(start) <= limit:
            break
        cut_bits += 1
        scores = _cut(scores, cut_bits)
    if len(start):
        clicks = np.add.reduceat(clicks, start)
        others = np.add.reduceat(others, start)
    return ScoreHistogram(scores[start], clicks, others, cut_bits, limit)


def _cut(scores: Floats, bits: int) -> Floats:
    """Clears the low bits of scores, keeping their order (towards minus infinity)."""
    if bits == 0:
        return scores
    raw = scores.view(np.int64)
    ordered = raw ^ ((raw >> 63) & _SIGN_FREE)
    ordered = (ordered >> bits) << bits
    return (ordered ^ ((ordered >> 63) & _SIGN_FREE)).view(np.float64)

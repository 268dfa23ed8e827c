"""Metrics over all rows of a slice whatever their user: AUC, PR-AUC, calibration."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.metrics.calibration_error import BUCKETS, Bucket
from components.metrics.exact import from_digits
from components.metrics.score_histogram import ScoreHistogram, changes, cut

Floats = NDArray[np.float64]

# Points of a drawn curve, and bins of a drawn distribution.
_CURVE_POINTS = 200
_SCORE_BINS = 40
# Scores worked on at a time, so that temporary columns stay small.
_CHUNK = 1 << 18


@dataclasses.dataclass(frozen=True, slots=True)
class _Chunk:
    """Some neighbouring scores, with what lies at or above each.

    Sums run from the top, where precision depends on few rows: from the bottom, heavy
    rows of low scores would drown them.

    Attributes:
        place: their positions in the histogram.
        scores: float64 [chunk], ascending.
        clicks: float64 [chunk], weight of the clicks at each score.
        others: float64 [chunk], weight of the non-clicks at each score.
        clicks_from: float64 [chunk], weight of the clicks at or above each score.
        others_from: float64 [chunk], the same of the non-clicks.
    """

    place: slice
    scores: Floats
    clicks: Floats
    others: Floats
    clicks_from: Floats
    others_from: Floats

    def buckets(self, count: int, total: float) -> NDArray[np.int64]:
        """Bucket of equal weight that the middle of each score's weight falls into."""
        weight = self.clicks + self.others
        middle = total - (self.clicks_from + self.others_from - 0.5 * weight)
        middle = np.maximum(middle, 0.0)  # rounding
        return np.minimum(middle / total * count, count - 1).astype(np.int64)


@dataclasses.dataclass(frozen=True, slots=True)
class AucTerms:
    """What a row of weight 1 adds to the linearised error of a pooled AUC.

    That is the row's share of pairs in order less the AUC, over the weight of its class.

    Attributes:
        scores: float64 [distinct], ascending.
        cut_bits: low bits of the scores that were dropped.
        for_click: float64 [distinct], term of a click at each score.
        for_other: float64 [distinct], term of a non-click at each score.
    """

    scores: Floats
    cut_bits: int
    for_click: Floats
    for_other: Floats

    def at(self, scores: Floats) -> tuple[Floats, Floats]:
        """Looks terms up.

        Args:
            scores: float64 [any], each of a row that was counted.

        Returns:
            float64 [any], the term of a click and of a non-click at each.
        """
        place = np.searchsorted(self.scores, cut(scores, self.cut_bits))
        return self.for_click[place], self.for_other[place]


class Pooled:
    """What is computed from the clicks and non-clicks by score."""

    def __init__(self, histogram: ScoreHistogram) -> None:
        """Keeps the histogram.

        Args:
            histogram: rows by score.
        """
        self._histogram = histogram

    @functools.cached_property
    def _totals(self) -> tuple[float, float]:
        """Weight of all clicks and of all non-clicks."""
        histogram = self._histogram
        clicks, others = (
            float(from_digits(table.sum(axis=1, keepdims=True), histogram.lowest)[0])
            for table in (histogram.click_digits, histogram.other_digits)
        )
        return clicks, others

    def _chunks(self) -> Iterator[_Chunk]:
        """Runs over the scores from the highest; those of a chunk ascend."""
        histogram = self._histogram
        clicks_above = others_above = 0.0
        for end in range(len(histogram.scores), 0, -_CHUNK):
            place = slice(max(end - _CHUNK, 0), end)
            clicks, others = histogram.counts(place)
            chunk = _Chunk(
                place,
                histogram.scores[place],
                clicks,
                others,
                clicks_above + np.cumsum(clicks[::-1])[::-1],
                others_above + np.cumsum(others[::-1])[::-1],
            )
            yield chunk
            clicks_above = float(chunk.clicks_from[0])
            others_above = float(chunk.others_from[0])

    @functools.cached_property
    def auc(self) -> float | None:
        """Pooled AUC: the share of click and non-click pairs in order, ties one half.

        None without clicks or without non-clicks.
        """
        clicks, others = self._totals
        if not (clicks > 0 and others > 0):
            return None
        ordered = sum(
            float((one.others * (one.clicks_from - 0.5 * one.clicks)).sum())
            for one in self._chunks()
        )
        return min(ordered / clicks / others, 1.0)  # rounding may exceed it

    def auc_bound(self) -> float:
        """Largest error of the pooled AUC from cut scores; 0 while they are exact."""
        clicks, others = self._totals
        if self._histogram.cut_bits == 0 or self.auc is None:
            return 0.0
        ties = sum(float((one.clicks * one.others).sum()) for one in self._chunks())
        return 0.5 * ties / clicks / others

    def auc_terms(self) -> AucTerms | None:
        """Linearises the pooled AUC; None where it is undefined.

        References:
            DeLong, DeLong and Clarke-Pearson, 1988 (placement values); Obuchowski,
            1997, sums them by cluster.
        """
        clicks, others = self._totals
        if self.auc is None:
            return None
        scores = self._histogram.scores
        for_click, for_other = np.empty(len(scores)), np.empty(len(scores))
        for one in self._chunks():
            below = 1.0 - (one.others_from - 0.5 * one.others) / others
            above = (one.clicks_from - 0.5 * one.clicks) / clicks
            for_click[one.place] = (below - self.auc) / clicks
            for_other[one.place] = (above - self.auc) / others
        return AucTerms(scores, self._histogram.cut_bits, for_click, for_other)

    def pr_auc(self) -> float | None:
        """Average precision: sum over thresholds of recall gained times precision.

        Returns:
            The value, or None without clicks.
        """
        clicks, _ = self._totals
        if not clicks > 0:
            return None
        total = 0.0
        for one in self._chunks():
            precision = one.clicks_from / (one.clicks_from + one.others_from)
            total += float((one.clicks * precision).sum())
        return min(total / clicks, 1.0)

    @functools.cached_property
    def calibration(self) -> list[Bucket]:
        """Predicted against observed clicks over ten buckets of equal weight.

        A score belongs to the bucket that the middle of its weight falls into, so that
        equal scores stay together; where many are tied there are fewer buckets.
        """
        total = sum(self._totals)
        sums = np.zeros((4, BUCKETS))
        lowest, highest = np.full(BUCKETS, np.inf), np.full(BUCKETS, -np.inf)
        for one in self._chunks() if total > 0 else ():
            bucket = one.buckets(BUCKETS, total)
            starts = np.flatnonzero(changes(bucket))
            ends = np.append(starts[1:], len(bucket)) - 1
            held = bucket[starts]
            weight = one.clicks + one.others
            predicted = weight * one.scores
            columns = (weight, predicted, one.clicks, predicted * (1.0 - one.scores))
            for row, column in zip(sums, columns, strict=True):
                row[held] += np.add.reduceat(column, starts)
            lowest[held] = np.minimum(lowest[held], one.scores[starts])
            highest[held] = np.maximum(highest[held], one.scores[ends])
        return [
            Bucket(float(lowest[at]), float(highest[at]), *sums[:, at].tolist())
            for at in np.flatnonzero(sums[0] > 0)
        ]

    def curves(self) -> dict[str, Any]:
        """Points for drawing: ROC, precision and recall, scores by class.

        Returns:
            ``roc`` with ``fpr`` and ``tpr``, ``pr`` with ``recall`` and ``precision``,
            ``scores`` with bin ``edges`` and weights of ``clicks`` and ``others``;
            a curve that is undefined has no points.
        """
        clicks, others = self._totals
        edges = _bin_edges(self._histogram.scores)
        by_class = np.zeros((2, _SCORE_BINS))
        points: list[Floats] = []
        for one in self._chunks():
            bins = np.searchsorted(edges[1:-1], one.scores, side="right")
            for row, weights in zip(by_class, (one.clicks, one.others), strict=True):
                row += np.bincount(bins, weights, _SCORE_BINS)
            bucket = one.buckets(_CURVE_POINTS, clicks + others)
            at = np.flatnonzero(changes(bucket))
            points.append(np.stack([one.clicks_from, one.others_from])[:, at[::-1]])
        found, wrong = np.concatenate(points, axis=1) if points else np.zeros((2, 0))
        roc = found.size and clicks > 0 and others > 0
        return {
            "roc": {
                "fpr": [0.0, *(wrong / others).tolist()] if roc else [],
                "tpr": [0.0, *(found / clicks).tolist()] if roc else [],
            },
            "pr": {
                "recall": (found / clicks).tolist() if clicks > 0 else [],
                "precision": (found / (found + wrong)).tolist() if clicks > 0 else [],
            },
            "scores": {
                "edges": edges.tolist(),
                "clicks": by_class[0].tolist(),
                "others": by_class[1].tolist(),
            },
        }


def _bin_edges(scores: Floats) -> Floats:
    """Edges of equal bins over ascending scores, which may lie next to each other."""
    low, high = (scores[0], scores[-1]) if len(scores) else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, _SCORE_BINS + 1)

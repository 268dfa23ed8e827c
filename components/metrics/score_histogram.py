"""Clicks and non-clicks by score: what pooled AUC, PR-AUC and calibration need."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.metrics.exact import digits, from_digits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SIGN_FREE = np.int64(0x7FFF_FFFF_FFFF_FFFF)


@dataclasses.dataclass(frozen=True, slots=True)
class ScoreHistogram:
    """Weight of clicks and non-clicks at each distinct score, ascending.

    Weights are exact: whole numbers, or digits in base 2**30 where rows have weights,
    so that neither the order of rows nor their split shows. Scores are exact while the
    distinct ones fit the limit of :meth:`merged`. Beyond it they are cut to their
    leading bits, as few bits less as make them fit; ``Pooled.auc_bound`` says what that
    may cost.

    Attributes:
        scores: float64 [distinct], ascending.
        click_digits: int64, or a smaller type for counts of rows that were not merged,
            [digits, distinct], weight of the clicks at each score.
        other_digits: the same of the non-clicks.
        lowest: place of the lowest digit; 0 with a single digit for plain counts.
        cut_bits: low bits of the score that were dropped; 0 means exact.
    """

    scores: Floats
    click_digits: NDArray[np.integer[Any]]
    other_digits: NDArray[np.integer[Any]]
    lowest: int = 0
    cut_bits: int = 0

    @classmethod
    def of_sorted(
        cls,
        scores: Floats,
        labels: NDArray[np.bool_],
        weights: Floats | None,
        starts: NDArray[np.integer[Any]],
    ) -> "ScoreHistogram":
        """Counts rows by score.

        Args:
            scores: float64 [distinct], ascending, without -0.0.
            labels: bool [rows], in order of the score.
            weights: float64 [rows], or None to count rows.
            starts: whole numbers [distinct], first row of each score.

        Returns:
            The histogram of these rows.
        """
        if weights is None:
            rows = np.diff(starts, append=starts.dtype.type(len(labels)))
            # Most scores are of few rows, and a byte holds their count.
            kind = np.min_scalar_type(rows.max(initial=0))
            clicks = np.add.reduceat(labels, starts, dtype=kind)
            return cls(scores, clicks[None, :], (rows.astype(kind) - clicks)[None, :])
        table, lowest = digits(weights)
        clicks = _segment_sums(np.where(labels, table, 0), starts)
        others = _segment_sums(np.where(labels, 0, table), starts)
        return cls(scores, clicks, others, lowest)

    @classmethod
    def merged(
        cls, parts: Sequence["ScoreHistogram"], limit: int | None = None
    ) -> "ScoreHistogram":
        """Adds histograms of disjoint rows.

        Args:
            parts: at least one histogram.
            limit: most distinct scores to hold, or None for no limit.

        Returns:
            The histogram of all rows.
        """
        cut_bits = max(part.cut_bits for part in parts)
        lowest = min(part.lowest for part in parts)
        highest = max(part.lowest + len(part.click_digits) for part in parts)
        scores = cut(np.concatenate([part.scores for part in parts]), cut_bits)
        order = np.argsort(scores, kind="stable")
        clicks, others = (
            np.concatenate(
                [
                    _aligned(table, part.lowest - lowest, highest - lowest)
                    for part, table in zip(parts, tables, strict=True)
                ],
                axis=1,
            )[:, order]
            for tables in (
                [part.click_digits for part in parts],
                [part.other_digits for part in parts],
            )
        )
        scores = scores[order]
        while True:
            starts = np.flatnonzero(changes(scores))
            if limit is None or len(starts) <= limit:
                break
            cut_bits += 1
            scores = cut(scores, cut_bits)
        return cls(
            scores[starts],
            _segment_sums(clicks, starts),
            _segment_sums(others, starts),
            lowest,
            cut_bits,
        )

    def counts(self, place: slice) -> tuple[Floats, Floats]:
        """Rounds the counts of some scores.

        Args:
            place: which scores.

        Returns:
            float64 [chosen], weight of the clicks and of the non-clicks.
        """
        clicks, others = self.click_digits[:, place], self.other_digits[:, place]
        return from_digits(clicks, self.lowest), from_digits(others, self.lowest)


def changes(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Marks each position that differs from the one before; the first always does."""
    changed = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def cut(scores: Floats, bits: int) -> Floats:
    """Clears low bits of scores, keeping their order (towards minus infinity).

    Args:
        scores: float64 [any].
        bits: number of low bits to clear.

    Returns:
        float64 [any].
    """
    if bits == 0:
        return scores
    raw = scores.view(np.int64)
    ordered = raw ^ ((raw >> 63) & _SIGN_FREE)
    ordered = (ordered >> bits) << bits
    return (ordered ^ ((ordered >> 63) & _SIGN_FREE)).view(np.float64)


def _segment_sums(table: NDArray[np.generic], starts: NDArray[np.integer[Any]]) -> Ints:
    """Sums, digit by digit, the segments that begin at ``starts``."""
    if len(starts) == 0:
        return np.zeros((len(table), 0), np.int64)
    return np.add.reduceat(table, starts, axis=1, dtype=np.int64)


def _aligned(table: NDArray[np.integer[Any]], below: int, count: int) -> Ints:
    """Digits with zeros around them, so that all parts have the same places."""
    above = count - below - len(table)
    return np.pad(table, ((below, above), (0, 0)))

"""Per-user sums of ranked rows by segment sums: what every metric adds up."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.metrics.names import UserWeight
from components.metrics.ranking import Ranking
from components.metrics.score_histogram import changes

# scikit-learn's bound for float64, so that both log losses agree.
PROBABILITY_FLOOR = float(np.finfo(np.float64).eps)
# Rows worked on at a time: few enough that temporary columns stay small.
_BLOCK_ROWS = 1 << 18

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class UserSums:
    """Sums of one model's rows by unit.

    Attributes:
        known: bool [units], False for a row without a user id.
        rows: int64 [units], number of rows.
        clicks: int64 [units], number of clicks.
        weight: float64 [units], sum of weights.
        click_weight: float64 [units], sum of weights of the clicks.
        predicted: float64 [units], sum of weight times score.
        loss: float64 [units], sum of weight times log loss of the clipped score.
        mass: float64 [units], weight of the user in GAUC.
        auc: float64 [units], AUC of the user's rows, NaN where undefined.
        pooled: float64 [units], sum of weight times the terms of the pooled AUC; zeros
            where no terms were given.
    """

    known: NDArray[np.bool_]
    rows: Ints
    clicks: Ints
    weight: Floats
    click_weight: Floats
    predicted: Floats
    loss: Floats
    mass: Floats
    auc: Floats
    pooled: Floats

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Whether each unit (bool [units]) is a user with an AUC."""
        return self.known & np.isfinite(self.auc)


def default_user_weight(weighted: bool) -> UserWeight:
    """Names the weight of a user in GAUC when none was chosen.

    Args:
        weighted: whether the rows have a weight column.

    Returns:
        ``weight`` with a weight column, else ``impressions``.
    """
    return "weight" if weighted else "impressions"


def user_sums(
    ranking: Ranking,
    user_weight: UserWeight,
    terms: tuple[Floats, Floats] | None = None,
) -> UserSums:
    """Sums the rows of each unit.

    Weights become integers of a scale of their own for the clicks and the non-clicks of
    each user (52 bits, fewer only beyond 512 rows), so that sums do not depend on the
    order of rows.

    Args:
        ranking: the rows; all rows of a user must be among them.
        user_weight: what a user weighs in GAUC. ``impressions`` also makes pairs inside
            the user unweighted.
        terms: what a click and a non-click at each bin of ``ranking.histogram`` adds to
            the pooled AUC (float64 [bins] each), or None.

    Returns:
        One entry a unit.
    """
    count = len(ranking.unit_start)
    rows = _lengths(ranking.unit_start, len(ranking.labels))
    clicks = np.zeros(count, np.int64)
    sums = {name: np.zeros(count) for name in _SUMS}
    for units, first, end in _blocks(ranking):
        block = _Block(ranking, units, first, end)
        clicks[units] = block.counts.per_unit(block.counts.positive)
        for name, values in block.sums(user_weight, terms).items():
            sums[name][units] = values
    masses: dict[str, Floats] = {
        "impressions": rows.astype(np.float64),
        "clicks": sums["click_weight"],
        "users": np.ones(count),
        "weight": sums["weight"],
    }
    return UserSums(
        known=ranking.known,
        rows=rows,
        clicks=clicks,
        mass=masses[user_weight],
        **sums,
    )


_SUMS = ("weight", "click_weight", "predicted", "loss", "auc", "pooled")


def _blocks(ranking: Ranking) -> Iterator[tuple[slice, int, int]]:
    """Runs of whole units of about ``_BLOCK_ROWS`` rows: units, first and end row."""
    starts, total = ranking.unit_start, len(ranking.labels)
    marks = np.arange(0, total, _BLOCK_ROWS)
    edges = np.unique(np.append(np.searchsorted(starts, marks), len(starts)))
    rows = np.append(starts, total)[edges]
    for index in range(len(edges) - 1):
        units = slice(int(edges[index]), int(edges[index + 1]))
        yield units, int(rows[index]), int(rows[index + 1])


class _Block:
    """Some units of a ranking, their rows joined to runs of one user and score."""

    def __init__(self, ranking: Ranking, units: slice, first: int, end: int) -> None:
        """Finds the runs and sums their clicks.

        Args:
            ranking: the rows.
            units: the units of this block.
            first: their first row.
            end: the row behind their last.
        """
        labels = ranking.labels[first:end]
        bins = ranking.bins[first:end]
        unit_start = ranking.unit_start[units] - first
        changed = changes(bins)
        changed[unit_start] = True
        tie_start = np.flatnonzero(changed)
        first_tie = np.searchsorted(tie_start, unit_start)
        self._scores = ranking.histogram.scores
        self._bins = bins[tie_start]
        self.counts = self.weighted = _Ties(labels, None, tie_start, first_tie)
        self._scales = (np.zeros(len(unit_start), np.int64),) * 2
        if ranking.weights is not None:
            rows = _lengths(unit_start, len(labels))
            weights = ranking.weights[first:end]
            whole, self._scales = _integer_weights(weights, labels, unit_start, rows)
            self.weighted = _Ties(labels, whole, tie_start, first_tie)

    def sums(
        self, user_weight: UserWeight, terms: tuple[Floats, Floats] | None
    ) -> dict[str, Floats]:
        """Sums of each unit, by the names of ``_SUMS``."""
        ties = self.weighted
        pairs = self.counts if user_weight == "impressions" else ties
        scores = self._scores[self._bins]
        clipped = np.clip(scores, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)
        pooled: tuple[Any, Any] = (0, 0)
        if terms is not None:
            pooled = terms[0][self._bins], terms[1][self._bins]
        # What a click and a non-click of weight 1 add, by sum.
        by_name: dict[str, tuple[Any, Any]] = {
            "weight": (1, 1),
            "click_weight": (1, 0),
            "predicted": (scores, scores),
            "loss": (-np.log(clipped), -np.log1p(-clipped)),
            "pooled": pooled,
        }
        sums = {}
        for name, (for_click, for_other) in by_name.items():
            clicks = ties.per_unit(ties.positive * for_click)
            others = ties.per_unit(ties.negative * for_other)
            sums[name] = self._scaled(clicks, 0) + self._scaled(others, 1)
        sums["auc"] = pairs.auc()
        return sums

    def _scaled(self, sums: NDArray[Any], which: int) -> Floats:
        """Sums of integer weights of the clicks (0) or non-clicks (1) at their scale."""
        return np.ldexp(sums.astype(np.float64), self._scales[which])


def _lengths(starts: Ints, end: int) -> Ints:
    """Lengths of the segments that begin at ``starts`` and fill ``end`` positions."""
    return np.diff(starts, append=end)


def _integer_weights(
    weights: Floats, labels: NDArray[np.bool_], unit_start: Ints, rows: Ints
) -> tuple[Ints, tuple[Ints, Ints]]:
    """Writes weights as integers times a power of two of their unit and class.

    An AUC does not change when all clicks, or all non-clicks, are scaled; so one of
    them may weigh far less than the other without being lost.

    Args:
        weights: float64 [rows], sorted by unit.
        labels: bool [rows].
        unit_start: int64 [units], first row of each unit.
        rows: int64 [units], rows of each unit.

    Returns:
        Integer weights [rows] whose sums by unit stay below 2**62, and the power of two
        of the clicks and of the non-clicks of each unit [units].
    """
    bits = np.minimum(52, 61 - np.ceil(np.log2(rows)).astype(np.int64))
    scales = []
    for of_class in (labels, ~labels):
        largest = np.maximum.reduceat(np.where(of_class, weights, 0.0), unit_start)
        scales.append(np.frexp(largest)[1].astype(np.int64) - bits)
    of_clicks, of_others = (np.repeat(one, rows) for one in scales)
    by_row = np.where(labels, of_clicks, of_others)
    whole = np.rint(np.ldexp(weights, -by_row)).astype(np.int64)
    return whole, (scales[0], scales[1])


class _Ties:
    """Clicks and non-clicks of each run of rows with one user and one score."""

    def __init__(
        self,
        labels: NDArray[np.bool_],
        weights: Ints | None,
        tie_start: Ints,
        first_tie: Ints,
    ) -> None:
        """Sums weights, or counts rows, by run.

        Args:
            labels: bool [rows], sorted by unit and score.
            weights: int64 [rows], or None to count rows.
            tie_start: int64 [ties], first row of each run.
            first_tie: int64 [units], first run of each unit.
        """
        self._first_tie = first_tie
        clicks = labels.astype(np.int64) if weights is None else weights * labels
        self.positive: Ints = np.add.reduceat(clicks, tie_start)
        total = (
            _lengths(tie_start, len(labels))
            if weights is None
            else np.add.reduceat(weights, tie_start)
        )
        self.negative = total - self.positive

    def per_unit(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sums values of runs over each unit."""
        return np.add.reduceat(values, self._first_tie)

    def auc(self) -> Floats:
        """AUC of each unit: pairs in order plus half of the ties, over all pairs."""
        cumulated = np.cumsum(self.negative) - self.negative
        # The running sum may wrap round; differences inside a unit are exact anyway.
        ties = _lengths(self._first_tie, len(cumulated))
        below = cumulated - np.repeat(cumulated[self._first_tie], ties)
        ordered = self.positive * (below + 0.5 * self.negative)
        positive = self.per_unit(self.positive).astype(np.float64)
        pairs = positive * self.per_unit(self.negative).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.minimum(self.per_unit(ordered) / pairs, 1.0)  # rounding
        return np.where(pairs > 0, share, np.nan)

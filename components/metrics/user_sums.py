"""Per-user sums by one sort and segment sums: what every user-level metric adds up."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.metrics.columns import Columns
from components.metrics.names import UserWeight

# scikit-learn's bound for float64, so that both log losses agree.
PROBABILITY_FLOOR = float(np.finfo(np.float64).eps)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class UserSums:
    """Sums of one model's rows by unit, units in order of their code.

    A unit is a user, or a single row when the row has no user id.

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


def default_user_weight(weighted: bool) -> UserWeight:
    """Names the weight of a user in GAUC when none was chosen.

    Args:
        weighted: whether the rows have a weight column.

    Returns:
        ``weight`` with a weight column, else ``impressions``.
    """
    return "weight" if weighted else "impressions"


def user_sums(columns: Columns, scores: Floats, user_weight: UserWeight) -> UserSums:
    """Sums the rows of each user.

    Weights become integers of each user's own scale (52 bits, fewer only beyond 512
    rows of one user), so that sums do not depend on the order of rows.

    Args:
        columns: the rows; all rows of a user must be among them.
        scores: float64 [rows], the scores to rank by.
        user_weight: what a user weighs in GAUC. ``impressions`` also makes pairs inside
            the user unweighted.

    Returns:
        One entry a unit.
    """
    positions = np.arange(len(columns))
    units = np.where(columns.users < 0, -1 - positions, columns.users)
    by_score = np.argsort(scores, kind="stable")
    order = by_score[np.argsort(units[by_score], kind="stable")]
    units, scores, labels = units[order], scores[order], columns.labels[order]
    unit_start = np.flatnonzero(_changes(units))
    tie_start = np.flatnonzero(_changes(units) | _changes(scores))
    rows = _lengths(unit_start, len(order))
    first_tie = np.searchsorted(tie_start, unit_start)
    tie_scores = scores[tie_start]
    ties = _Ties(labels, None, tie_start, first_tie)
    clicks = ties.per_unit(ties.positive).astype(np.int64)
    plain = ties
    scale = np.zeros(len(rows), np.int64)
    if columns.weights is not None:
        whole, scale = _integer_weights(columns.weights[order], unit_start, rows)
        ties = _Ties(labels, whole, tie_start, first_tie)
    pairs = plain if user_weight == "impressions" else ties
    weight = np.ldexp(ties.per_unit(ties.positive + ties.negative), scale)
    click_weight = np.ldexp(ties.per_unit(ties.positive), scale)
    masses: dict[str, Floats] = {
        "impressions": rows.astype(np.float64),
        "clicks": click_weight,
        "users": np.ones(len(rows)),
        "weight": weight,
    }
    return UserSums(
        known=units[unit_start] >= 0,
        rows=rows,
        clicks=clicks,
        weight=weight,
        click_weight=click_weight,
        predicted=np.ldexp(ties.predicted(tie_scores), scale),
        loss=np.ldexp(ties.loss(tie_scores), scale),
        mass=masses[user_weight],
        auc=pairs.auc(),
    )


def _changes(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Marks each position that differs from the one before; the first always does."""
    changed = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def _lengths(starts: Ints, end: int) -> Ints:
    """Lengths of the segments that begin at ``starts`` and fill ``end`` positions."""
    return np.diff(starts, append=end)


def _integer_weights(
    weights: Floats, unit_start: Ints, rows: Ints
) -> tuple[Ints, Ints]:
    """Writes weights as integers times a power of two of their unit.

    Args:
        weights: float64 [rows], sorted by unit.
        unit_start: int64 [units], first row of each unit.
        rows: int64 [units], rows of each unit.

    Returns:
        Integer weights [rows] whose sums by unit stay below 2**62, and the power of two
        of each unit [units].
    """
    largest = np.maximum.reduceat(weights, unit_start) if len(rows) else weights
    exponent = np.frexp(largest)[1].astype(np.int64)
    bits = np.minimum(52, 61 - np.ceil(np.log2(np.maximum(rows, 1))).astype(np.int64))
    scale = exponent - bits
    whole = np.rint(np.ldexp(weights, -np.repeat(scale, rows))).astype(np.int64)
    return whole, scale


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
        self.positive = _segment_sums(clicks, tie_start)
        total = (
            _lengths(tie_start, len(labels))
            if weights is None
            else _segment_sums(weights, tie_start)
        )
        self.negative = total - self.positive

    def per_unit(self, values: NDArray[Any]) -> Floats:
        """Sums values of runs over each unit."""
        return _segment_sums(values, self._first_tie).astype(np.float64)

    def auc(self) -> Floats:
        """AUC of each unit: pairs in order plus half of the ties, over all pairs."""
        cumulated = np.cumsum(self.negative) - self.negative
        # The running sum may wrap round; differences inside a unit are exact anyway.
        ties = _lengths(self._first_tie, len(cumulated))
        below = cumulated - np.repeat(cumulated[self._first_tie], ties)
        ordered = self.positive * (below + 0.5 * self.negative)
        pairs = self.per_unit(self.positive) * self.per_unit(self.negative)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pairs > 0, self.per_unit(ordered) / pairs, np.nan)

    def predicted(self, tie_scores: Floats) -> Floats:
        """Sum of weight times score of each unit."""
        return self.per_unit((self.positive + self.negative) * tie_scores)

    def loss(self, tie_scores: Floats) -> Floats:
        """Sum of weight times log loss of each unit."""
        clipped = np.clip(tie_scores, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)
        return self.per_unit(
            -(self.positive * np.log(clipped) + self.negative * np.log1p(-clipped))
        )


def _segment_sums(values: NDArray[Any], starts: Ints) -> NDArray[Any]:
    """Sums the segments that begin at ``starts``; none for no segments."""
    return np.add.reduceat(values, starts) if len(starts) else values[:0]

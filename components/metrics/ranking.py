"""The one sort behind all metrics: rows by score, then grouped by user.

Memory is the limit of a large evaluation, so positions are kept in four bytes, columns
are freed as soon as they are used, and gathers run in blocks.
"""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.metrics.columns import Columns
from components.metrics.score_histogram import ScoreHistogram, changes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Positions = NDArray[np.int32]

# Rows gathered at a time: numpy widens positions to eight bytes before it uses them.
_BLOCK_ROWS = 1 << 18


@dataclasses.dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of one model in order of unit, and of score inside a unit.

    A unit is a user, or a single row when the row has no user id.

    Attributes:
        histogram: clicks by score over all rows.
        bins: int32 [rows], position of the row's score in ``histogram.scores``.
        labels: bool [rows].
        weights: float64 [rows], or None when rows count as one.
        unit_start: int64 [units], first row of each unit.
        known: bool [units], False for a row without a user id.
    """

    histogram: ScoreHistogram
    bins: NDArray[np.int32]
    labels: NDArray[np.bool_]
    weights: Floats | None
    unit_start: Ints
    known: NDArray[np.bool_]


def rank(columns: Columns, scores: Floats) -> Ranking:
    """Sorts rows by score once, then deals them to their users in that order.

    The second step is a counting sort (the conversion of a sparse matrix), so the cost
    is that of a single sort. Rows of equal user and score come in any order.

    Args:
        columns: the rows.
        scores: float64 [rows], the scores to rank by, finite and without -0.0.

    Returns:
        The rows in order.
    """
    order = np.argsort(scores).astype(np.int32)
    ordered = _gathered(scores, order)
    changed = changes(ordered)
    starts = np.flatnonzero(changed).astype(np.int32)
    distinct = _gathered(ordered, starts)
    del ordered
    labels = _gathered(columns.labels, order)
    weights = None if columns.weights is None else _gathered(columns.weights, order)
    histogram = ScoreHistogram.of_sorted(distinct, labels, weights, starts)
    del starts
    bins = np.cumsum(changed, dtype=np.int32)
    bins -= 1
    del changed
    codes, known_count = _unit_codes(columns.users)
    codes = _gathered(codes, order)
    del order
    by_unit, unit_start, known = _group(codes, known_count)
    del codes
    return Ranking(
        histogram,
        _gathered(bins, by_unit),
        _gathered(labels, by_unit),
        None if weights is None else _gathered(weights, by_unit),
        unit_start,
        known,
    )


def _gathered(values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """``values[places]``, in blocks."""
    taken = np.empty(len(places), values.dtype)
    for start in range(0, len(places), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        taken[block] = values[places[block]]
    return taken


def _unit_codes(users: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Gives each row without a user id a code of its own.

    Codes follow the order of the rows, not of scores: under two models a unit must be
    the same row.

    Args:
        users: whole numbers [rows], codes from 0, negative for no user.

    Returns:
        Codes from 0 [rows]; and how many of them, the first, may be users.
    """
    known_count = int(users.max(initial=-1)) + 1
    unknown = users < 0
    if unknown.any():
        users = users.astype(np.int64)  # a copy, and wide enough for twice the rows
        users[unknown] = known_count + np.arange(np.count_nonzero(unknown))
    return users, known_count


def _group(
    codes: NDArray[Any], known_count: int
) -> tuple[NDArray[np.integer[Any]], Ints, NDArray[np.bool_]]:
    """Groups positions by unit, keeping their order.

    Args:
        codes: whole numbers [rows], codes of the units from 0.
        known_count: codes below it are users.

    Returns:
        Positions [rows] grouped by unit, first of each unit [units], and whether the
        unit is a user [units].
    """
    rows, code_count = len(codes), int(codes.max(initial=-1)) + 1
    if code_count > 4 * rows:  # a small slice of many users: sorting it is cheaper
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        unit_start = np.flatnonzero(changes(ordered))
        return order, unit_start, ordered[unit_start] < known_count
    from scipy.sparse import coo_array  # 0.2 s to import, and needed only here

    place, marks = np.arange(rows, dtype=np.int32), np.ones(rows, np.bool_)
    short = codes.astype(np.int32, copy=False)
    grouped = coo_array((marks, (short, place)), (code_count, rows)).tocsr()
    units = np.flatnonzero(np.diff(grouped.indptr))
    unit_start = grouped.indptr[units].astype(np.int64)
    return grouped.indices, unit_start, units < known_count

"""Evaluation rows as columns, checked once before any metric sees them."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.errors import DataError

NO_USER = -1


class PredictionsError(DataError):
    """A label, prediction or weight broke a rule; the caller passed a wrong column."""

    exit_code = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Columns:
    """Rows of evaluation data by column, all of the same length.

    Attributes:
        users: int32 or int64 [rows], one code a user, ``NO_USER`` where a row has no
            user id.
        labels: bool [rows], True for a click.
        scores: float64 [rows], finite, -0.0 written as 0.0.
        weights: float64 [rows], positive and finite, or None when rows count as one.
        baseline: float64 [rows], scores of the model to compare with, or None.
    """

    users: NDArray[np.integer[Any]]
    labels: NDArray[np.bool_]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    baseline: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def take(self, index: NDArray[Any]) -> "Columns":
        """Picks rows by position or mask.

        Args:
            index: integer positions or a bool mask [rows].

        Returns:
            The chosen rows in the order of ``index``.
        """
        weights, baseline = self.weights, self.baseline
        return Columns(
            self.users[index],
            self.labels[index],
            self.scores[index],
            None if weights is None else weights[index],
            None if baseline is None else baseline[index],
        )


def encode_users(ids: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
    """Codes user ids by their value as written: ``007`` is not ``7``.

    Args:
        ids: text, bytes or integer ids; None and empty text mean no user.

    Returns:
        int64 [rows], equal codes for equal ids, ``NO_USER`` for no user.
    """
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return np.unique(ids, return_inverse=True)[1].reshape(-1).astype(np.int64)
    codes: dict[Any, int] = {None: NO_USER, "": NO_USER, b"": NO_USER}
    listed = ids.tolist() if isinstance(ids, np.ndarray) else ids
    return np.fromiter(
        (codes.setdefault(one, len(codes)) for one in listed), np.int64, len(listed)
    )


def check_columns(
    users: NDArray[np.integer[Any]],
    labels: Any,
    scores: Any,
    weights: Any = None,
    baseline: Any = None,
    place: str = "row",
    other: str = "baseline prediction",
) -> tuple[Columns, NDArray[np.int64] | None]:
    """Checks every value and removes rows of weight 0.

    Args:
        users: int32 or int64 [rows], user codes as :func:`encode_users` gives them.
        labels: [rows], 0 or 1.
        scores: [rows], predicted click probabilities; finite.
        weights: [rows], at least 0 and finite, or None.
        baseline: [rows], predictions of the model to compare with, or None.
        place: what the row number in an error counts, such as ``data row``.
        other: what an error calls the predictions to compare with.

    Returns:
        The rows of positive weight, and their positions; None when all were kept.

    Raises:
        PredictionsError: a label other than 0 or 1, a prediction that is no finite
            number, or a weight that is negative or not finite; the message names the
            first such row (counted from 1) and its value. Or numbers so large or small
            that their sums leave the range of float64.
    """
    kept = None
    if weights is not None:
        weights = np.asarray(weights, np.float64)
        _refuse(~(np.isfinite(weights) & (weights >= 0)), weights, place, "weight")
        kept = weights > 0
        kept = None if kept.all() else kept
    labels = np.asarray(labels)
    _refuse(~((labels == 0) | (labels == 1)), labels, place, "label", kept)
    scores = np.asarray(scores, np.float64)
    _refuse(~np.isfinite(scores), scores, place, "prediction", kept)
    if baseline is not None:
        baseline = np.asarray(baseline, np.float64)
        _refuse(~np.isfinite(baseline), baseline, place, other, kept)
        # Adding zero turns -0.0, which sorts apart in some orders, into 0.0.
        baseline = baseline + 0.0
    columns = Columns(users, labels == 1, scores + 0.0, weights, baseline)
    positions = None if kept is None else np.flatnonzero(kept)
    if positions is not None:
        columns = columns.take(positions)
    _refuse_extremes(columns)
    return columns, positions


def _refuse_extremes(columns: Columns) -> None:
    """Raises where sums of weights, predictions and their squares leave float64."""
    weight = float(len(columns) if columns.weights is None else columns.weights.sum())
    if 0 < weight < _SMALLEST_SUM:
        raise PredictionsError(
            f"weights that sum to {weight:g}: their products are smaller than a float64 "
            "holds; scale them up"
        )
    for scores in (columns.scores, columns.baseline):
        if scores is None or not len(scores):
            continue
        largest = max(float(scores.max()), -float(scores.min()), 1.0)
        if not weight * largest < _LARGEST_SUM:
            raise PredictionsError(
                f"predictions as large as {largest:g}, or weights that sum to "
                f"{weight:g}: their squares are larger than a float64 holds; scale them "
                "down"
            )


# Their squares, and sums of these, are still numbers.
_LARGEST_SUM = 1e150
_SMALLEST_SUM = 1e-100

_FINITE = "must be a finite number"
_RULES = {
    "weight": "must be a finite number >= 0",
    "label": "must be 0 or 1",
}


def _refuse(
    bad: NDArray[np.bool_],
    values: NDArray[Any],
    place: str,
    what: str,
    kept: NDArray[np.bool_] | None = None,
) -> None:
    """Raises for the first bad row, when there is one among the rows kept."""
    if kept is not None:
        bad = bad & kept
    if not bad.any():
        return
    row = int(np.argmax(bad))
    value = values[row].item() if hasattr(values[row], "item") else values[row]
    count = int(bad.sum())
    others = f" ({count} such rows)" if count > 1 else ""
    raise PredictionsError(
        f"{place} {row + 1}: {what} {_RULES.get(what, _FINITE)}, got {value}{others}"
    )

"""Columns out of TFMA's batched extracts, whatever form their tensors take."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow_model_analysis as tfma
from numpy.typing import NDArray

from components.extract_settings import ExtractSettings
from components.metrics.columns import PredictionsError
from components.slices import SliceFeature, slice_feature

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# The output that the models of this project name so, looked for among several.
_PREDICTION = "prediction"


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """A batch as columns, not yet checked.

    Attributes:
        ids: user ids [rows]: int64, or objects (bytes, int, None for no user).
        labels: float64 [rows], NaN where absent.
        scores: float64 [rows].
        weights: float64 [rows], NaN where absent, or None without a weight column.
        baseline: float64 [rows] or None.
        features: slice features by name.
    """

    ids: NDArray[Any]
    labels: Floats
    scores: Floats
    weights: Floats | None
    baseline: Floats | None
    features: dict[str, SliceFeature]


def read_batch(extracts: Mapping[str, Any], settings: ExtractSettings) -> Batch:
    """Reads the columns of a batch.

    Args:
        extracts: batched extracts with features and predictions.
        settings: what to read.

    Returns:
        The columns.

    Raises:
        PredictionsError: a column is absent or has several values in a row.
    """
    features = extracts[tfma.FEATURES_KEY]
    predictions = extracts[tfma.PREDICTIONS_KEY]
    baseline = None
    if settings.baseline:
        baseline = _scores(predictions[settings.baseline], settings.prediction_key)
        predictions = predictions[settings.candidate]
    scores = _scores(predictions, settings.prediction_key)
    count = len(scores)
    weights = None
    if settings.weight_key:
        weights = _numbers(features, settings.weight_key, count)
    return Batch(
        ids=_user_ids(features, settings.user_key, count),
        labels=_numbers(features, settings.label_key, count),
        scores=scores,
        weights=weights,
        baseline=baseline,
        features={
            name: _slice_feature(features.get(name), count)
            for name in settings.slice_features()
        },
    )


def flat_values(tensor: Any, row_count: int) -> tuple[NDArray[Any], Ints]:
    """Lists the values of a tensor with the row of each.

    Args:
        tensor: a dense array [rows, ...], an object array with one array or None a row,
            a sparse or varlen tensor value, a ragged tensor value, or None when the
            batch lacks the feature.
        row_count: number of rows of the batch.

    Returns:
        The values and int64 rows, ascending.
    """
    if tensor is None:
        return np.empty(0, object), np.empty(0, np.int64)
    if hasattr(tensor, "nested_row_splits"):
        ends = np.asarray(tensor.nested_row_splits[0])
        for inner in tensor.nested_row_splits[1:]:
            ends = np.asarray(inner)[ends]
        return np.asarray(tensor.values).ravel(), _rows_of(np.diff(ends))
    if hasattr(tensor, "indices"):
        return np.asarray(tensor.values), np.asarray(tensor.indices)[:, 0]
    tensor = np.asarray(tensor)
    if tensor.ndim == 1 and tensor.dtype == object:
        parts = [_as_array(one) for one in tensor.tolist()]
        lengths = np.fromiter((len(part) for part in parts), np.int64, len(parts))
        full = [part for part in parts if len(part)]
        values = np.concatenate(full) if full else np.empty(0, object)
        return values, _rows_of(lengths)
    flat = tensor.reshape(row_count, -1)
    return flat.ravel(), np.repeat(np.arange(row_count), flat.shape[1])


def _as_array(value: Any) -> NDArray[Any]:
    """One row's values: none for None, one for a scalar."""
    if value is None:
        return np.empty(0, object)
    if isinstance(value, (bytes, str)):
        scalar = np.empty(1, object)
        scalar[0] = value
        return scalar
    return np.atleast_1d(np.asarray(value)).ravel()


def _rows_of(lengths: NDArray[Any]) -> Ints:
    """Row of each value when rows hold that many."""
    return np.repeat(np.arange(len(lengths)), lengths)


def _single(features: Mapping[str, Any], name: str, count: int) -> tuple[Any, Ints]:
    """Values of a feature that has at most one a row, with their rows."""
    values, rows = flat_values(features.get(name), count)
    if len(rows) > 1 and (np.diff(rows) == 0).any():
        raise PredictionsError(f"feature '{name}' must have one value a row, got more")
    return values, rows


def _numbers(features: Mapping[str, Any], name: str, count: int) -> Floats:
    """A numeric column, NaN where a row has no value."""
    values, rows = _single(features, name, count)
    column = np.full(count, np.nan)
    column[rows] = values.astype(np.float64)
    return column


def _user_ids(features: Mapping[str, Any], name: str, count: int) -> NDArray[Any]:
    """User ids as read, None where a row has none."""
    column = np.full(count, None, object)
    if not name:
        return column
    values, rows = _single(features, name, count)
    if len(rows) == count and values.dtype.kind in "iu":
        return values
    column[rows] = values.tolist()
    return column


def _slice_feature(tensor: Any, count: int) -> SliceFeature:
    """Codes of a slice feature."""
    values, rows = flat_values(tensor, count)
    return slice_feature(values.tolist(), rows, count)


def _scores(predictions: Any, key: str) -> Floats:
    """One prediction a row out of a model's output or outputs."""
    if isinstance(predictions, Mapping):
        name = key or _PREDICTION
        if name not in predictions and len(predictions) != 1:
            known = ", ".join(sorted(predictions))
            raise PredictionsError(
                f"the model has no output '{name}'; its outputs: {known}"
            )
        predictions = predictions.get(name, next(iter(predictions.values())))
    scores = np.asarray(predictions, np.float64)
    if scores.size != len(scores):
        raise PredictionsError(
            f"predictions must be [rows] or [rows, 1], got shape {list(scores.shape)}"
        )
    return scores.reshape(-1)

"""What Transform does to every row: ids, numbers, padded lists.

TFX imports ``preprocessing_fn`` by path. The graph it builds is saved with the model,
so training and serving cannot differ.

Shape legend: B rows of a batch.
"""

from typing import Any

import tensorflow as tf
import tensorflow_transform as tft

from components.tensors import as_sparse, padded, scalar
from data.dataset import Dataset
from data.features import Categorical, Cross, Feature, Numeric, Sequence, Vector
from data.inputs import DERIVED_SIZES, id_range

# Names of the passed-through columns.
LABEL = "_label"
WEIGHT = "_weight"
USER = "_user"

# Hashes of user ids are below it, so that a negative number can stand for none.
USER_BUCKETS = 2**63 - 1

SECONDS_PER_HOUR = 3600
SECONDS_PER_DAY = 86_400
# 1970-01-01 was a Thursday, day 3 of a week that starts on Monday.
EPOCH_WEEKDAY = 3


def preprocessing_fn(
    inputs: dict[str, Any], custom_config: dict[str, Any]
) -> dict[str, tf.Tensor]:
    """Maps raw columns to model inputs.

    Args:
        inputs: raw columns, dense [B] where required, else sparse or ragged [B, ?].
        custom_config: ``{"dataset": JSON of data.dataset.Dataset}``.

    Returns:
        For each feature a tensor as ``data.inputs.ModelInput`` says, the label as
        int64 [B] under ``LABEL``, the weight as float32 [B] under ``WEIGHT`` if it is
        declared, and, for validation, a hash of the user id as int64 [B] under ``USER``.
    """
    dataset = Dataset.model_validate_json(custom_config["dataset"])
    keys = dataset.keys
    outputs = {LABEL: scalar(inputs[keys.label_name], 0)}
    if keys.weight:
        outputs[WEIGHT] = scalar(inputs[keys.weight], 0.0)
    if keys.user_id and dataset.split.has_validation:
        outputs[USER] = _user(inputs[keys.user_id])
    for feature in dataset.features:
        if not isinstance(feature, Cross):
            outputs[feature.name] = _transform(dataset, feature, inputs)
    for feature in dataset.features:
        if isinstance(feature, Cross):
            outputs[feature.name] = _cross(feature, outputs)
    return outputs


def _user(column: Any) -> tf.Tensor:
    """FarmHash fingerprint of the id as written, int64 [B]; -1 where it is empty."""
    text = _text(scalar(column, _absent(column)))
    ids = tf.strings.to_hash_bucket_fast(text, USER_BUCKETS)
    return tf.where(tf.equal(text, ""), tf.constant(-1, tf.int64), ids)


def _transform(dataset: Dataset, feature: Feature, inputs: dict[str, Any]) -> tf.Tensor:
    """The output of one feature that reads a column."""
    assert not isinstance(feature, Cross)
    column = inputs[feature.source]
    if isinstance(feature, Numeric):
        return _numeric(feature, column)
    if isinstance(feature, Vector):
        vector = padded(as_sparse(column), feature.length, "first")
        return tf.where(tf.math.is_finite(vector), vector, tf.zeros_like(vector))
    if isinstance(feature, Sequence):
        owner: Feature = feature
        if feature.vocabulary_of:
            owner = dataset.feature(feature.vocabulary_of)
        lists = as_sparse(column)
        ids = lists.with_values(_ids(owner, lists.values, inputs))
        return padded(ids, feature.max_length, feature.keep)
    if feature.derive:
        return _derived(feature.derive, column)
    return _ids(feature, _text(scalar(column, _absent(column))), inputs)


def _ids(feature: Feature, values: tf.Tensor, inputs: dict[str, Any]) -> tf.Tensor:
    """Ids from 1 for any values, 0 for empty ones; same shape, int64."""
    assert isinstance(feature, Categorical | Sequence)
    text = _text(values)
    if feature.encoding == "identity":
        # An empty text is no number; -1 falls outside the range like any other
        # unknown value.
        number = tf.strings.to_number(
            tf.where(tf.equal(text, ""), "-1", text), tf.int64
        )
        known = (number >= 0) & (number < feature.buckets)
        return tf.where(known, number + 1, tf.zeros_like(number))
    if feature.encoding == "hash":
        ids = tf.strings.to_hash_bucket_fast(text, id_range(feature))
    else:
        ids = tft.apply_vocabulary(
            text,
            _vocabulary(feature, inputs),
            num_oov_buckets=feature.oov_buckets,
            file_format="text",
        )
    return tf.where(tf.equal(text, ""), tf.zeros_like(ids), ids + 1)


def _vocabulary(feature: Categorical | Sequence, inputs: dict[str, Any]) -> tf.Tensor:
    """Path of the feature's vocabulary, computed over the training rows.

    Called again for a list that shares it; Transform computes equal analyzers once.
    """
    column = inputs[feature.source]
    if isinstance(feature, Sequence):
        values = as_sparse(column).values
    else:
        values = scalar(column, _absent(column))
    return tft.vocabulary(
        _text(values),
        top_k=feature.max_size,
        frequency_threshold=feature.min_count,
        vocab_filename=feature.name,
        name=f"vocabulary_{feature.name.replace('.', '_').replace('-', '_')}",
    )


def _numeric(feature: Numeric, column: Any) -> tf.Tensor:
    """One number a row, or its bucket from 1."""
    values = scalar(column, _absent(column))
    if values.dtype == tf.string:
        empty = tf.equal(values, "")
        values = tf.strings.to_number(tf.where(empty, "nan", values), tf.float32)
    numbers = tf.cast(values, tf.float32)
    # A log has no infinity, but a request may, and a network makes NaN of it.
    numbers = tf.where(
        tf.math.is_finite(numbers), numbers, tf.constant(feature.default, tf.float32)
    )
    if feature.clip:
        low, high = feature.clip
        numbers = tf.clip_by_value(
            numbers,
            tf.float32.min if low is None else low,
            tf.float32.max if high is None else high,
        )
    if feature.log1p:
        numbers = tf.math.log1p(tf.maximum(numbers, 0.0))
    if feature.quantiles:
        return tft.bucketize(numbers, feature.quantiles) + 1
    if feature.boundaries:
        return tft.apply_buckets(numbers, tf.constant([feature.boundaries])) + 1
    return tft.scale_to_z_score(numbers) if feature.z_score else numbers


def _derived(name: str, column: Any) -> tf.Tensor:
    """Hour of the day or day of the week of unix seconds, UTC, from 1."""
    seconds = scalar(column, tf.constant(-1, tf.int64))
    if name == "hour_of_day":
        part = seconds // SECONDS_PER_HOUR
    else:
        part = seconds // SECONDS_PER_DAY + EPOCH_WEEKDAY
    ids = tf.math.floormod(part, DERIVED_SIZES[name]) + 1
    return tf.where(seconds < 0, tf.zeros_like(ids), ids)


def _cross(feature: Cross, outputs: dict[str, tf.Tensor]) -> tf.Tensor:
    """Hash of the ids of several features from 1; 0 where one of them is absent."""
    parts = [outputs[name] for name in feature.features]
    joined = tf.strings.join([tf.strings.as_string(part) for part in parts], "x")
    ids = tf.strings.to_hash_bucket_fast(joined, id_range(feature)) + 1
    present = tf.reduce_all(tf.stack(parts, axis=-1) > 0, axis=-1)
    return tf.where(present, ids, tf.zeros_like(ids))


def _absent(column: Any) -> tf.Tensor:
    """Value that stands for an absent one of the column's type."""
    if column.dtype == tf.string:
        return tf.constant("")
    if column.dtype.is_floating:
        return tf.constant(float("nan"), column.dtype)
    # Ids are >= 0 or text, so the lowest int64 cannot be one.
    return tf.constant(column.dtype.min, column.dtype)


def _text(values: tf.Tensor) -> tf.Tensor:
    """Values as text; the number that stands for an absent one becomes empty."""
    if values.dtype == tf.string:
        return values
    absent = tf.equal(values, values.dtype.min)
    return tf.where(absent, "", tf.strings.as_string(values))

"""Signatures of the exported model: raw rows in, click probability out.

``serving_default`` takes serialized tf.Example rows and ``named_tensors`` one tensor a
column, by its name or what ``data.tensor_names`` makes of it. Both run the saved
Transform graph, so a client sends the log's own columns.
"""

import math
from typing import Any

import tensorflow as tf
import tensorflow_transform as tft

from components.tensors import as_sparse, padded, scalar
from data.columns import Column, shard_columns
from data.dataset import Dataset
from data.features import Cross
from data.tensor_names import tensor_name

DTYPES = {"bytes": tf.string, "int64": tf.int64, "float": tf.float32}
PREDICTION = "prediction"


def export(
    model: Any, transform: tft.TFTransformOutput, dataset: Dataset, path: str
) -> None:
    """Writes the model as a SavedModel with both signatures.

    Args:
        model: Keras model from a dict of inputs to logits [batch, 1].
        transform: output of the Transform component.
        dataset: the declaration.
        path: directory to create.
    """
    module = tf.Module()
    module.model = model
    module.transform = transform.transform_features_layer()
    columns = serving_columns(dataset)
    names = [feature.name for feature in dataset.features]

    def predict(raw: dict[str, Any]) -> dict[str, tf.Tensor]:
        transformed = module.transform(raw)
        logits = module.model({name: transformed[name] for name in names})
        return {PREDICTION: tf.sigmoid(tf.reshape(logits, [-1]))}  # [B, 1] -> [B]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def serving_default(examples: tf.Tensor) -> dict[str, tf.Tensor]:
        spec = {c.name: tf.io.VarLenFeature(DTYPES[c.dtype]) for c in columns}
        return predict(
            _as_transform_reads(tf.io.parse_example(examples, spec), transform)
        )

    @tf.function(input_signature=[_tensor_specs(columns)])
    def named_tensors(tensors: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        raw = {c.name: _sparse(c, tensors[tensor_name(c.name)]) for c in columns}
        return predict(_as_transform_reads(raw, transform))

    signatures = {"serving_default": serving_default, "named_tensors": named_tensors}
    tf.saved_model.save(module, path, signatures=signatures)


def serving_columns(dataset: Dataset) -> tuple[Column, ...]:
    """The columns that features read; label, weight and carried ones are not sent."""
    sources = {f.source for f in dataset.features if not isinstance(f, Cross)}
    return tuple(c for c in shard_columns(dataset) if c.name in sources)


def _tensor_specs(columns: tuple[Column, ...]) -> dict[str, tf.TensorSpec]:
    """[batch] for scalars, [batch, ?] for lists padded with empty text or 0."""
    specs: dict[str, tf.TensorSpec] = {}
    for column in columns:
        shape = [None] if column.length == 0 else [None, column.length]
        name = tensor_name(column.name)
        specs[name] = tf.TensorSpec(shape, DTYPES[column.dtype], name=name)
    return specs


def _sparse(column: Column, tensor: tf.Tensor) -> tf.SparseTensor:
    """A tensor as the list column that Transform reads; padding text is dropped."""
    if column.dtype == "bytes":
        return tf.sparse.from_dense(tf.reshape(tensor, [tf.shape(tensor)[0], -1]))
    return as_sparse(tensor)


def _as_transform_reads(
    raw: dict[str, tf.SparseTensor], transform: tft.TFTransformOutput
) -> dict[str, Any]:
    """Makes required columns dense, as the schema of Transform has them.

    A request may lack a column that every logged row has (its user, say); it then
    counts as absent instead of failing the whole batch.
    """
    specs = transform.raw_feature_spec()
    out: dict[str, Any] = {}
    for name, column in raw.items():
        spec = specs[name]
        if not isinstance(spec, tf.io.FixedLenFeature):
            out[name] = column
            continue
        # [] and [1] are one value a row; a curated schema may also fix a vector's [n].
        size = math.prod(spec.shape)
        if size == 1:
            values = scalar(column, "" if column.dtype == tf.string else 0)
        else:
            values = padded(column, size, "first")
        out[name] = tf.reshape(values, [-1, *spec.shape])
    return out

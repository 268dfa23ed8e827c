"""Columns as Transform and serving hand them over, made dense.

Written with a handful of plain operations: the ragged tensors' own conversions are
several times slower to trace, and Transform traces its function half a dozen times.

Shape legend: B rows of a batch, L length of a padded list.
"""

from typing import Any

import tensorflow as tf


def as_sparse(column: Any) -> tf.SparseTensor:
    """A list column as a sparse tensor [B, ?].

    Args:
        column: sparse, ragged, or dense [B] or [B, n].

    Returns:
        The same values; zeros of a dense column are kept.
    """
    if isinstance(column, tf.SparseTensor):
        return column
    if isinstance(column, tf.Tensor):
        matrix = tf.reshape(column, [tf.shape(column)[0], -1])
        column = tf.RaggedTensor.from_tensor(matrix)
    return column.to_sparse()


def scalar(column: Any, default: Any) -> tf.Tensor:
    """The one value of each row.

    Args:
        column: dense [B] or [B, 1], or a list column with at most one value a row.
        default: value of the rows without one.

    Returns:
        Dense [B].
    """
    if isinstance(column, tf.Tensor):
        return tf.reshape(column, [-1])  # [B] or [B, 1] -> [B]
    sparse = as_sparse(column)
    rows = tf.cast(sparse.dense_shape[:1], tf.int32)
    empty = tf.fill(rows, tf.convert_to_tensor(default, sparse.dtype))
    return tf.tensor_scatter_nd_update(empty, sparse.indices[:, :1], sparse.values)


def padded(sparse: tf.SparseTensor, length: int, keep: str) -> tf.Tensor:
    """Lists cut and padded with 0.

    Args:
        sparse: numbers [B, ?], each row's from column 0 on without gaps.
        length: L.
        keep: ``first`` or ``last`` L values of a longer list.

    Returns:
        Dense [B, L].
    """
    rows, columns = sparse.indices[:, 0], sparse.indices[:, 1]
    if keep == "last":
        lengths = tf.math.unsorted_segment_max(columns + 1, rows, sparse.dense_shape[0])
        columns -= tf.maximum(tf.gather(lengths, rows) - length, 0)
    kept = (columns >= 0) & (columns < length)
    dense = tf.scatter_nd(
        tf.boolean_mask(tf.stack([rows, columns], axis=1), kept),
        tf.boolean_mask(sparse.values, kept),
        tf.stack([sparse.dense_shape[0], length]),
    )
    return tf.ensure_shape(dense, [None, length])

"""From packed blocks to the columns of a batch, as TensorFlow graph.

Columns that the format keeps in one matrix stay together until the batch: each step
then costs once a type, not once a column.

Shape legend: B rows of a batch, G rows of a group of blocks, L length of a list.
"""

from collections.abc import Collection, Mapping

import tensorflow as tf

from data.packed import (
    HEADER,
    LENGTHS,
    MATRIX,
    Dtype,
    PackedColumn,
    PackedLayout,
    planes_of,
)

# Tensors by the feature that stores them.
Stored = dict[str, tf.Tensor]


def unpack(records: tf.Tensor, layout: PackedLayout, names: Collection[str]) -> Stored:
    """The rows of blocks, in order.

    Args:
        records: serialized blocks, string [blocks].
        layout: what each block must hold.
        names: columns to take.

    Returns:
        Matrices [G, columns]; lists, padded with 0, and vectors [G, L].

    Raises:
        tf.errors.InvalidArgumentError: a block has another layout.
    """
    taken = {one.feature: one for one in layout.columns if one.name in names}
    dtypes: dict[str, Dtype] = {name: one.dtype for name, one in taken.items()}
    for one in taken.values():
        if one.lists:
            dtypes[LENGTHS + one.name] = one.lengths_dtype
    planes = [plane for item in dtypes.items() for plane in planes_of(*item)]
    spec = dict.fromkeys([HEADER, *planes], tf.io.FixedLenFeature((), tf.string))
    parsed = tf.io.parse_example(records, spec)
    same = tf.debugging.assert_equal(
        parsed[HEADER],
        layout.header,
        "a shard has another layout than the first: repack",
    )
    with tf.control_dependencies([same] if same is not None else []):
        flat = {name: _decode(parsed, name, dtype) for name, dtype in dtypes.items()}
    return {name: _rows(one, flat, layout) for name, one in taken.items()}


def columns_of(stored: Stored, layout: PackedLayout) -> dict[str, tf.Tensor]:
    """The columns of a batch: integers as int64, each matrix in its columns.

    Args:
        stored: what ``unpack`` returns, of the rows of the batch.
        layout: what was unpacked.

    Returns:
        Columns by name, [B] or [B, L].
    """
    rows = {
        name: tf.cast(values, tf.int64) if values.dtype.is_integer else values
        for name, values in stored.items()
    }
    for dtype, group in layout.matrices.items():
        if MATRIX + dtype in rows:
            values = tf.unstack(rows.pop(MATRIX + dtype), len(group), axis=1)
            rows |= zip((one.name for one in group), values, strict=True)
    return rows


def _decode(parsed: Mapping[str, tf.Tensor], feature: str, dtype: Dtype) -> tf.Tensor:
    """The values of a feature of all blocks, one behind the other."""
    low, *high = (
        tf.io.decode_raw(tf.strings.reduce_join(parsed[name]), plane)
        for name, plane in planes_of(feature, dtype).items()
    )
    if not high:
        return low
    return tf.cast(low, tf.int32) + tf.cast(high[0], tf.int32) * 2**16


def _rows(
    column: PackedColumn, flat: Mapping[str, tf.Tensor], layout: PackedLayout
) -> tf.Tensor:
    """A column's values, or those of its whole matrix, row by row."""
    values = flat[column.feature]
    if not column.lists:
        width = column.width or len(layout.matrices[column.dtype])
        return tf.reshape(values, [-1, width])
    lengths = tf.cast(flat[LENGTHS + column.name], tf.int32)
    ragged = tf.RaggedTensor.from_row_lengths(values, lengths, validate=False)
    return ragged.to_tensor(shape=[None, column.width])

"""Batches for training and validation from packed shards.

The same batches as ``components.input_fn`` reads from a record for each row, at a
fraction of the cost. Shuffling has four levels: order of files, several files read at
once, order of the blocks within a window, and order of the rows of a group of blocks.

Shape legend: B rows of a batch, G rows of a group of blocks, L length of a list.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from components.record_source import PARALLEL, read_records, ready, shuffled
from data.errors import DataError
from data.inputs import ModelInput
from data.packed import BLOCK_ROWS, HEADER, LENGTHS, PackedColumn, PackedLayout
from data.packed_shards import read_layout
from data.shards import verify_shard

# Blocks whose rows are shuffled together. Where the blocks of a window differ in their
# means only, neighbours correlate by one over it; more blocks leave the cache.
_GROUP = 128

_Columns = dict[str, tf.Tensor]


def dataset(
    files: Sequence[str],
    inputs: tuple[ModelInput, ...],
    label_name: str,
    weight_name: str | None = None,
    user_name: str | None = None,
    *,
    batch_size: int,
    shuffle_rows: int = 0,
    seed: int = 0,
    epoch: int = 0,
) -> tf.data.Dataset:
    """One epoch of batches: every row once, the last batch with what is left.

    The same arguments give the same batches. A training asks for one data set an
    epoch, with the number of the epoch.

    Args:
        files: packed shards of one layout; some may be empty.
        inputs: what the model reads.
        label_name: column of the label.
        weight_name: column of the example weight; all 1 when None.
        user_name: column of the user's hash; left out when None.
        batch_size: rows of a (global) batch.
        shuffle_rows: rows of the window that blocks are shuffled in; 0 keeps the order
            of the files.
        seed: of the shuffling.
        epoch: number of the epoch; each has another order.

    Returns:
        Data set of (inputs by name, label float32 [B], weight float32 [B]), and the user
        int64 [B] behind them if it is named.

    Raises:
        DataError: there are no files, they are not packed, or lack a column.
    """
    names = [one.name for one in inputs]
    names += [name for name in (label_name, weight_name, user_name) if name]
    blocks = read_records(files, 1, shuffle_rows > 0, (seed, epoch))
    columns, header = _columns(files, names)
    group = _GROUP
    if shuffle_rows:
        window = -(-shuffle_rows // BLOCK_ROWS)
        blocks = shuffled(blocks, window, (seed, epoch))
        group = min(group, window)
    reorder = _row_order(group, (seed, epoch)) if shuffle_rows else None

    def unpack(number: tf.Tensor, records: tf.Tensor) -> _Columns:
        rows = _unpack(records, columns, header)
        return reorder(rows, number) if reorder else rows

    def batch(rows: _Columns) -> tuple[Any, ...]:
        rows = {
            name: tf.cast(values, tf.int64) if values.dtype.is_integer else values
            for name, values in rows.items()
        }
        label = tf.cast(rows[label_name], tf.float32)
        weight = rows[weight_name] if weight_name else tf.ones_like(label)
        user = (rows[user_name],) if user_name else ()
        return {one.name: rows[one.name] for one in inputs}, label, weight, *user

    parallel = {"num_parallel_calls": PARALLEL, "deterministic": True}
    groups = blocks.rebatch(group).enumerate().map(unpack, **parallel)
    batches = groups.rebatch(batch_size).map(batch, **parallel)
    return ready(batches)


@contextlib.contextmanager
def damage_named(files: Sequence[str]) -> Iterator[None]:
    """Names file and block where reading meets damage; tf.data says neither.

    Args:
        files: what is read inside.

    Raises:
        DataError: one of the files is damaged.
    """
    try:
        yield
    except tf.errors.DataLossError:
        for path in files:
            verify_shard(path)
        raise


def _columns(
    files: Sequence[str], names: Sequence[str]
) -> tuple[list[PackedColumn], bytes]:
    """The named columns by the first file with rows, and the header of its blocks."""
    layout: PackedLayout | None = None
    for path in files:
        layout = layout or read_layout(path)
    if layout is None:
        raise DataError(f"{files[0]}: holds no packed rows; name the output of packing")
    stored = {column.name: column for column in layout.columns}
    for name in names:
        if name not in stored:
            raise DataError(f"{files[0]}: no column '{name}' among {sorted(stored)}")
    return [stored[name] for name in dict.fromkeys(names)], layout.header


def _unpack(
    records: tf.Tensor, columns: Sequence[PackedColumn], header: bytes
) -> _Columns:
    """The rows of blocks, in order.

    Args:
        records: serialized blocks, string [blocks].
        columns: what to take.
        header: what each block must begin with.

    Returns:
        Columns as stored, [G] or [G, L].
    """
    names = [column.name for column in columns]
    names += [LENGTHS + column.name for column in columns if column.lists]
    spec = dict.fromkeys([HEADER, *names], tf.io.FixedLenFeature((), tf.string))
    parsed = tf.io.parse_example(records, spec)
    same = tf.debugging.assert_equal(
        parsed[HEADER], header, "a shard has another layout than the first: repack"
    )

    def values(name: str, dtype: str) -> tf.Tensor:
        return tf.io.decode_raw(tf.strings.reduce_join(parsed[name]), dtype)

    with tf.control_dependencies([same] if same is not None else []):
        return {column.name: _rows(column, values) for column in columns}


def _rows(column: PackedColumn, values: Callable[[str, str], tf.Tensor]) -> tf.Tensor:
    """One column's values, [G] or [G, L]; lists are padded with 0."""
    flat = values(column.name, column.dtype)
    if not column.lists:
        return tf.reshape(flat, [-1, column.width]) if column.width else flat
    lengths = values(LENGTHS + column.name, column.lengths_dtype)
    ragged = tf.RaggedTensor.from_row_lengths(
        flat, tf.cast(lengths, tf.int64), validate=False
    )
    return ragged.to_tensor(shape=[None, column.width])


def _row_order(
    group: int, seed: tuple[int, int]
) -> Callable[[_Columns, tf.Tensor], _Columns]:
    """Makes the function that shuffles the rows of a group.

    One random order is drawn for the epoch, and each group starts at a place of its own
    in it: to sort random keys for each group would cost a tenth of all the reading, and
    the blocks of a group are random ones already.
    """
    most = group * BLOCK_ROWS
    drawn = tf.argsort(tf.random.stateless_uniform([most], seed))

    def reorder(rows: _Columns, number: tf.Tensor) -> _Columns:
        count = tf.shape(next(iter(rows.values())))[0]
        # A prime step: groups that follow each other start far apart.
        order = tf.roll(drawn, tf.cast(number * 7919 % most, tf.int32), 0)
        order = tf.boolean_mask(order, order < count)
        return {name: tf.gather(values, order) for name, values in rows.items()}

    return reorder

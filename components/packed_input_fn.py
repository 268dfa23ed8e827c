"""Batches for training and validation from packed shards.

The same batches as ``components.input_fn`` reads from a record for each row, at a
fraction of the cost. Shuffling has four levels: order of files, several files read at
once, order of the blocks within a window, and order of the rows of a group of blocks.

Blocks travel as serialized records, unpacked by the group. Shape legend: G rows of a
group of blocks.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from components import packed_blocks
from components.model_batch import model_batch
from components.packed_blocks import Stored
from components.record_source import PARALLEL, read_records, ready, shuffled
from data.errors import DataError
from data.inputs import ModelInput
from data.packed import BLOCK_ROWS, PackedLayout
from data.packed_shards import read_layout
from data.shards import verify_shard

# Blocks whose rows are shuffled together. Where the blocks of a window differ in their
# means only, neighbours correlate by one over it; more blocks leave the cache.
_GROUP = 128


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
    """One epoch of batches, with the arguments of ``components.input_fn.dataset``.

    Args:
        files: packed shards of one layout; some may be empty.
        inputs: as there.
        label_name: as there.
        weight_name: as there.
        user_name: as there.
        batch_size: as there.
        shuffle_rows: rows of the window that blocks are shuffled in; 0 keeps the order
            of the files.
        seed: as there.
        epoch: as there.

    Returns:
        The same batches: inputs by name, label, weight, and the user if it is named.

    Raises:
        DataError: there are no files, they are not packed, or lack a column.
    """
    names = [one.name for one in inputs]
    names += [name for name in (label_name, weight_name, user_name) if name]
    blocks = read_records(files, 0, shuffle_rows > 0, (seed, epoch))
    layout = _layout(files, names)
    if shuffle_rows:
        window = -(-shuffle_rows // BLOCK_ROWS)
        group = min(_GROUP, window)
        windows = shuffled(blocks.batch(window), (seed, epoch))
        groups = windows.rebatch(group)
        reorder = _row_order(group, (seed, epoch))
    else:
        groups, reorder = blocks.batch(_GROUP), None

    def unpack(number: tf.Tensor, records: tf.Tensor) -> Stored:
        stored = packed_blocks.unpack(records, layout, names)
        return reorder(stored, number) if reorder else stored

    def batch(stored: Stored) -> tuple[Any, ...]:
        columns = packed_blocks.columns_of(stored, layout)
        return model_batch(columns, inputs, label_name, weight_name, user_name)

    parallel = {"num_parallel_calls": PARALLEL, "deterministic": True}
    unpacked = groups.enumerate().map(unpack, **parallel)
    return ready(unpacked.rebatch(batch_size).map(batch, **parallel))


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


def _layout(files: Sequence[str], names: Sequence[str]) -> PackedLayout:
    """The layout of the first file with rows; it must have the named columns."""
    layout: PackedLayout | None = None
    for path in files:
        layout = layout or read_layout(path)
    if layout is None:
        raise DataError(f"{files[0]}: holds no packed rows; name the output of packing")
    stored = sorted(column.name for column in layout.columns)
    for name in names:
        if name not in stored:
            raise DataError(f"{files[0]}: no column '{name}' among {stored}")
    return layout


def _row_order(
    group: int, seed: tuple[int, int]
) -> Callable[[Stored, tf.Tensor], Stored]:
    """Makes the function that shuffles the rows of a group.

    One random order is drawn for the epoch, and each group starts at a place of its own
    in it: to sort random keys for each group would cost a tenth of all the reading, and
    the blocks of a group are random ones already.
    """
    most = group * BLOCK_ROWS
    drawn = tf.argsort(tf.random.stateless_uniform([most], seed))

    def reorder(rows: Stored, number: tf.Tensor) -> Stored:
        count = tf.shape(next(iter(rows.values())))[0]
        # A prime step: groups that follow each other start far apart.
        order = tf.roll(drawn, tf.cast(number * 7919 % most, tf.int32), 0)
        order = tf.boolean_mask(order, order < count)
        return {name: tf.gather(values, order) for name, values in rows.items()}

    return reorder

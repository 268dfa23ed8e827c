"""Batches for training and evaluation from transformed rows in TFRecord files.

Files hold one tf.Example a row. Records travel in blocks from the file to the batch and
are parsed a batch at a time: per-row work in tf.data costs more than the parsing.
Shuffling has three levels: order of files, several files read at once, and a random
order of the rows within a window.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from data.errors import DataError
from data.inputs import ModelInput

# Records read at a time. At 64 the cost per record of a dataset step is below that of
# reading; larger blocks gain nothing and mix files less.
_BLOCK = 64
# Files read at once: enough to overlap decompression on small machines, and to mix
# rows of different shards; every open file holds buffers.
_FILES_AT_ONCE = 8


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
        files: TFRecord files; GZIP, ZLIB or uncompressed, told by their first bytes.
            Files without records are fine.
        inputs: what the model reads; each is a feature of the records, dense and of
            fixed length: ``id`` int64 [1], ``ids`` int64 [length], ``number`` float
            [1], ``vector`` float [length].
        label_name: feature of the label, int64 [1].
        weight_name: feature of the example weight, float [1]; all 1 when None.
        user_name: feature of the user's hash, int64 [1]; left out when None.
        batch_size: rows of a (global) batch.
        shuffle_rows: rows of a shuffling window; 0 keeps the order of the files.
        seed: of the shuffling.
        epoch: number of the epoch; each has another order.

    Returns:
        Data set of (inputs by name, label float32 [B], weight float32 [B]), and the user
        int64 [B] behind them if it is named.

    Raises:
        DataError: there are no files.
    """
    if not files:
        raise DataError("no files to read rows from; check the split's folder")
    rows = _records(tuple(files), shuffle_rows > 0, (seed, epoch))
    if shuffle_rows:
        rows = _shuffled(rows, shuffle_rows, (seed, epoch))
    spec = _parsing_spec(inputs, label_name, weight_name)
    if user_name:
        spec[user_name] = tf.io.FixedLenFeature((), tf.int64)

    def parse(serialized: tf.Tensor) -> tuple[Any, ...]:
        parsed = tf.io.parse_example(serialized, spec)
        label = tf.cast(parsed[label_name], tf.float32)
        weight = parsed[weight_name] if weight_name else tf.ones_like(label)
        user = (parsed[user_name],) if user_name else ()
        return {one.name: parsed[one.name] for one in inputs}, label, weight, *user

    batches = rows.rebatch(batch_size).map(
        parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )
    return batches.prefetch(tf.data.AUTOTUNE).with_options(_options())


def compression_of(path: str) -> str:
    """Tells how a TFRecord file is compressed by its first bytes.

    An uncompressed file starts with the length of its first record as 8 bytes, lowest
    first. It is taken for a gzip file only if that record is 559,903 bytes long (the
    three bytes that every gzip file starts with), and never for ZLIB, because the
    upper four bytes of a length are 0.

    Args:
        path: file, local or remote.

    Returns:
        ``GZIP``, ``ZLIB`` or an empty string.
    """
    with tf.io.gfile.GFile(path, "rb") as file:
        head = file.read(12)
    if head[:3] == b"\x1f\x8b\x08":
        return "GZIP"
    is_zlib = len(head) >= 2 and head[0] == 0x78 and (head[0] * 256 + head[1]) % 31 == 0
    return "ZLIB" if is_zlib and head[4:8] != bytes(4) else ""


def _records(
    files: tuple[str, ...], shuffle: bool, seed: tuple[int, int]
) -> tf.data.Dataset:
    """Blocks of serialized records, string [block]."""
    order = tf.range(len(files))
    if shuffle:
        order = tf.argsort(tf.random.stateless_uniform([len(files)], seed))
    kinds = [compression_of(path) for path in files]
    sources = tf.data.Dataset.from_tensor_slices(
        (tf.gather(tf.constant(files), order), tf.gather(tf.constant(kinds), order))
    )
    if not shuffle:
        return sources.flat_map(_blocks)
    return sources.interleave(
        _blocks,
        cycle_length=min(len(files), _FILES_AT_ONCE),
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )


def _blocks(path: tf.Tensor, compression: tf.Tensor) -> tf.data.Dataset:
    """One file's records in blocks."""
    return tf.data.TFRecordDataset(path, compression_type=compression).batch(_BLOCK)


def _shuffled(
    rows: tf.data.Dataset, window: int, seed: tuple[int, int]
) -> tf.data.Dataset:
    """The same rows, each window of them in random order; string [window]."""

    def permute(number: tf.Tensor, block: tf.Tensor) -> tf.Tensor:
        # Different windows and epochs draw different numbers.
        state = tf.stack([tf.cast(seed[0], tf.int64), number * 100_003 + seed[1] + 1])
        keys = tf.random.stateless_uniform(
            tf.shape(block), state, minval=None, dtype=tf.int32
        )
        return tf.gather(block, tf.argsort(keys))

    return rows.rebatch(window).enumerate().map(permute).prefetch(1)


def _parsing_spec(
    inputs: tuple[ModelInput, ...], label_name: str, weight_name: str | None
) -> dict[str, tf.io.FixedLenFeature]:
    """What ``tf.io.parse_example`` reads."""
    spec = {
        one.name: tf.io.FixedLenFeature(
            (one.length,) if one.kind in {"ids", "vector"} else (),
            tf.int64 if one.table else tf.float32,
        )
        for one in inputs
    }
    spec[label_name] = tf.io.FixedLenFeature((), tf.int64)
    if weight_name:
        spec[weight_name] = tf.io.FixedLenFeature((), tf.float32)
    return spec


def _options() -> tf.data.Options:
    """Order as stated, and rows (not files) split between workers."""
    options = tf.data.Options()
    options.deterministic = True
    options.experimental_distribute.auto_shard_policy = (
        tf.data.experimental.AutoShardPolicy.DATA
    )
    return options

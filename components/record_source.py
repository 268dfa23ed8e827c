"""Serialized records of TFRecord files as tf.data, in file order or shuffled.

Records travel in blocks: a step of tf.data for each record costs more than reading it.
Shuffling has three levels: order of files, several files read at once, and a random
order of the records within a window.
"""

import os
from collections.abc import Sequence

import tensorflow as tf

from data.errors import DataError

# Files read at once: enough to overlap decompression on small machines, and to mix
# rows of different shards; every open file holds buffers.
_FILES_AT_ONCE = 8
# Steps that run at once. Fixed, because finding it by trial (tf.data's autotuning) costs
# a cheap pipeline up to a third of its CPU.
PARALLEL = max(2, len(os.sched_getaffinity(0)))
# Finished batches that wait for the model.
READY = 2


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


def read_records(
    files: Sequence[str], block: int, shuffle: bool, seed: tuple[int, int]
) -> tf.data.Dataset:
    """Records of files, each file's in order.

    Args:
        files: TFRecord files; GZIP, ZLIB or uncompressed, told by their first bytes.
            Files without records are fine.
        block: records of an element.
        shuffle: files in random order, and several at once.
        seed: of the shuffling, and number of the epoch.

    Returns:
        Serialized records, string [at most block].

    Raises:
        DataError: there are no files.
    """
    if not files:
        raise DataError("no files to read rows from; check the split's folder")
    order = tf.range(len(files))
    if shuffle:
        order = tf.argsort(tf.random.stateless_uniform([len(files)], seed))
    kinds = [compression_of(path) for path in files]
    sources = tf.data.Dataset.from_tensor_slices(
        (
            tf.gather(tf.constant(list(files)), order),
            tf.gather(tf.constant(kinds), order),
        )
    )

    def blocks(path: tf.Tensor, compression: tf.Tensor) -> tf.data.Dataset:
        source = tf.data.TFRecordDataset(path, compression_type=compression)
        return source.batch(block)

    if not shuffle:
        return sources.flat_map(blocks)
    at_once = min(len(files), _FILES_AT_ONCE)
    return sources.interleave(
        blocks,
        cycle_length=at_once,
        num_parallel_calls=min(at_once, PARALLEL),
        deterministic=True,
    )


def shuffled(
    records: tf.data.Dataset, window: int, seed: tuple[int, int]
) -> tf.data.Dataset:
    """The same records, each window of them in random order.

    Args:
        records: string [any].
        window: records shuffled together.
        seed: of the shuffling, and number of the epoch.

    Returns:
        String [window], the last one with what is left.
    """

    def permute(number: tf.Tensor, block: tf.Tensor) -> tf.Tensor:
        # Different windows and epochs draw different numbers.
        state = tf.stack([tf.cast(seed[0], tf.int64), number * 100_003 + seed[1] + 1])
        keys = tf.random.stateless_uniform(
            tf.shape(block), state, minval=None, dtype=tf.int32
        )
        return tf.gather(block, tf.argsort(keys))

    return records.rebatch(window).enumerate().map(permute).prefetch(1)


def ready(batches: tf.data.Dataset) -> tf.data.Dataset:
    """Batches made ahead, in the stated order.

    Args:
        batches: what a model reads.

    Returns:
        The same, split between workers by rows and not by files.
    """
    options = tf.data.Options()
    options.deterministic = True
    options.autotune.enabled = False
    options.experimental_distribute.auto_shard_policy = (
        tf.data.experimental.AutoShardPolicy.DATA
    )
    return batches.prefetch(READY).with_options(options)

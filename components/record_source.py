"""Serialized records of TFRecord files as tf.data, in file order or shuffled.

Records travel in blocks: a step of tf.data for each record costs more than reading it.
Shuffling has three levels: order of files, several files read at once, and a random
order of the records within a window.
"""

import os
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from data.errors import ConfigError, DataError
from data.staging import StagedFiles, Stager

# Files read at once: enough to overlap decompression on small machines, and to mix
# rows of different shards; every open file holds buffers.
_FILES_AT_ONCE = 8
# Steps that run at once. Fixed, because finding it by trial (tf.data's autotuning) costs
# a cheap pipeline up to a third of its CPU.
PARALLEL = max(2, len(os.sched_getaffinity(0)))
# Finished batches that wait for the model.
READY = 2
# Records of each staged file that are read ahead, as many as by parallel interleaving.
_AHEAD = 2


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
            Files without records are fine. ``StagedFiles`` are read from copies on the
            local disk, with the same result.
        block: records of an element; 0 gives each record by itself.
        shuffle: files in random order, and several at once.
        seed: of the shuffling, and number of the epoch.

    Returns:
        Serialized records, string [at most block], or string [] by itself.

    Raises:
        DataError: there are no files.
        ConfigError: files that are read at once do not fit into the limit of staging.
    """
    if not files:
        raise DataError("no files to read rows from; check the split's folder")
    order = tf.range(len(files))
    if shuffle:
        order = tf.argsort(tf.random.stateless_uniform([len(files)], seed))
    at_once = min(len(files), _FILES_AT_ONCE)
    if isinstance(files, StagedFiles):
        in_order = files.reordered(order.numpy().tolist())
        return _read_staged(in_order, block, at_once if shuffle else 1)
    kinds = [compression_of(path) for path in files]
    sources = tf.data.Dataset.from_tensor_slices(
        (
            tf.gather(tf.constant(list(files)), order),
            tf.gather(tf.constant(kinds), order),
        )
    )

    def blocks(path: tf.Tensor, compression: tf.Tensor) -> tf.data.Dataset:
        source = tf.data.TFRecordDataset(path, compression_type=compression)
        return source.batch(block) if block else source

    if not shuffle:
        return sources.flat_map(blocks)
    return sources.interleave(
        blocks,
        cycle_length=at_once,
        num_parallel_calls=min(at_once, PARALLEL),
        deterministic=True,
    )


def _read_staged(files: StagedFiles, block: int, at_once: int) -> tf.data.Dataset:
    """The same records from local copies; each pass over them stages anew.

    Only one file is waited for at a time: every wait holds a thread of TensorFlow's
    pool, on which the training step runs as well. So files are not interleaved by
    parallel calls but each is read ahead by a thread of its own.

    Args:
        files: in the order of reading.
        block: records of an element, or 0.
        at_once: files read at once.
    """
    _check_room(files, at_once)
    # By their folders. A pass has its own; it ends with the last record, or when
    # tf.data drops the pass and with it the generator.
    stagers: dict[str, Stager] = {}

    def staging() -> Iterator[str]:
        with Stager(files) as stager:
            stagers[stager.folder] = stager
            try:
                yield stager.folder
            finally:
                del stagers[stager.folder]

    def fetch(folder: bytes, path: bytes) -> tuple[bytes, bytes]:
        local = stagers[folder.decode()].fetch(path.decode())
        return local.encode(), compression_of(local).encode()

    def release(folder: bytes, path: bytes) -> np.bool_:
        stagers[folder.decode()].release(path.decode())
        return np.False_

    def read(folder: tf.Tensor, path: tf.Tensor) -> tf.data.Dataset:
        copy = tf.numpy_function(fetch, [folder, path], (tf.string, tf.string))
        local, compression = (tf.ensure_shape(one, []) for one in copy)
        source = tf.data.TFRecordDataset(local, compression_type=compression)
        # No record, but what happens after the last one.
        end = tf.data.Dataset.from_tensors(path).filter(
            lambda name: tf.ensure_shape(
                tf.numpy_function(release, [folder, name], tf.bool), []
            )
        )
        source = source.concatenate(end)
        source = source.batch(block) if block else source
        return source if at_once == 1 else source.prefetch(_AHEAD)

    passes = tf.data.Dataset.from_generator(
        staging, output_signature=tf.TensorSpec([], tf.string)
    )
    return passes.flat_map(
        lambda folder: tf.data.Dataset.from_tensor_slices(list(files)).interleave(
            lambda path: read(folder, path), cycle_length=at_once
        )
    )


def _check_room(files: StagedFiles, at_once: int) -> None:
    """Refuses a limit at which reading would wait for room for ever.

    A single file is never too large: one that is over the limit is staged alone.
    """
    needed = sum(sorted(files.sizes)[-at_once:])
    if at_once > 1 and needed > files.limit_bytes:
        raise ConfigError(
            f"train.staging.limit_gib: {files.limit_bytes / 2**30:.3g} GiB are less "
            f"than the {at_once} largest shards, which are read at once "
            f"({needed / 2**30:.3g} GiB); raise it, or make smaller shards"
        )


def shuffled(windows: tf.data.Dataset, seed: tuple[int, int]) -> tf.data.Dataset:
    """The same records, each window of them in random order.

    Args:
        windows: records to shuffle together, string [any].
        seed: of the shuffling, and number of the epoch.

    Returns:
        The windows, string [any].
    """

    def permute(number: tf.Tensor, block: tf.Tensor) -> tf.Tensor:
        # Different windows and epochs draw different numbers.
        state = tf.stack([tf.cast(seed[0], tf.int64), number * 100_003 + seed[1] + 1])
        keys = tf.random.stateless_uniform(
            tf.shape(block), state, minval=None, dtype=tf.int32
        )
        return tf.gather(block, tf.argsort(keys))

    return windows.enumerate().map(permute).prefetch(1)


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

"""Batches for training and evaluation from transformed rows in TFRecord files.

Files hold one tf.Example a row. Records travel in blocks from the file to the batch and
are parsed a batch at a time: per-row work in tf.data costs more than the parsing.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from components.model_batch import model_batch
from components.record_source import PARALLEL, read_records, ready, shuffled
from data.inputs import ModelInput

# Records read at a time. At 256 the cost per record of a dataset step is below that of
# reading; larger blocks gain nothing and mix files less.
_BLOCK = 256


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
        inputs: what the model reads; each is a feature of the records: ``id`` int64
            [1], ``ids`` int64 [any], ``number`` float [1], ``vector`` float [length].
            Lists are padded with 0, and cut, to ``length``.
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
    rows = read_records(files, _BLOCK, shuffle_rows > 0, (seed, epoch))
    if shuffle_rows:
        rows = shuffled(rows.rebatch(shuffle_rows), (seed, epoch))
    spec = _parsing_spec(inputs, label_name, weight_name)
    if user_name:
        spec[user_name] = tf.io.FixedLenFeature((), tf.int64)

    def parse(serialized: tf.Tensor) -> tuple[Any, ...]:
        parsed = tf.io.parse_example(serialized, spec)
        for one in inputs:
            if one.kind == "ids":
                parsed[one.name] = parsed[one.name].to_tensor(shape=[None, one.length])
        return model_batch(parsed, inputs, label_name, weight_name, user_name)

    batches = rows.rebatch(batch_size).map(
        parse, num_parallel_calls=PARALLEL, deterministic=True
    )
    return ready(batches)


def _parsing_spec(
    inputs: tuple[ModelInput, ...], label_name: str, weight_name: str | None
) -> dict[str, Any]:
    """What ``tf.io.parse_example`` reads."""
    spec: dict[str, Any] = {}
    for one in inputs:
        if one.kind == "ids":
            spec[one.name] = tf.io.RaggedFeature(tf.int64)
        else:
            spec[one.name] = tf.io.FixedLenFeature(
                (one.length,) if one.length else (),
                tf.int64 if one.table else tf.float32,
            )
    spec[label_name] = tf.io.FixedLenFeature((), tf.int64)
    if weight_name:
        spec[weight_name] = tf.io.FixedLenFeature((), tf.float32)
    return spec

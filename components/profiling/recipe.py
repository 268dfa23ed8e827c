"""The input pipeline of tutorials on the same rows, to compare with.

As in https://www.tensorflow.org/guide/data_performance: ``list_files``, ``interleave``,
``map(parse_single_example)``, ``batch``, ``prefetch``.
"""

import dataclasses
import os
from typing import Any

import numpy as np
import pyarrow as pa
import tensorflow as tf

from components.preprocessing import LABEL, WEIGHT
from components.profiling.sample import reread
from components.profiling.timing import Work
from components.training_rows import PackedSplit, TrainingRows
from data.arrays import Values
from data.examples import encode
from data.records import frame_all
from data.shards import ShardWriter

_BATCH = 4096


def write_rows(rows: TrainingRows, folder: str) -> list[str]:
    """Writes packed rows as a tf.Example each, as Transform would materialize them.

    Args:
        rows: packed shards that hold rows.
        folder: receives a GZIP file for each.

    Returns:
        Their paths.
    """
    in_order = reread(rows, shuffle_rows=0, batch_size=_BATCH)
    files = []
    for number, path in enumerate(rows.train.files):
        one = dataclasses.replace(in_order, train=PackedSplit(files=(path,)))
        file = f"rows-{number}.gz"
        with ShardWriter(folder, file) as writer:
            for features, label, weight in one.epoch(0):
                columns = {**features, LABEL: tf.cast(label, tf.int64), WEIGHT: weight}
                batch = _record_batch(rows, columns)
                writer.write(frame_all(encode(batch)), batch.num_rows, 0)
            writer.close()
        files.append(os.path.join(folder, file))
    return files


def published_rows(files: list[str], spec: dict[str, Any]) -> tf.data.Dataset:
    """Rows as tutorials read them, a record at a time.

    Args:
        files: GZIP TFRecord files with a tf.Example a row.
        spec: of the features, as ``tf.io.parse_single_example`` takes it.

    Returns:
        A dict of tensors for each row.
    """
    return (
        tf.data.Dataset.list_files(files)
        .interleave(
            lambda file: tf.data.TFRecordDataset(file, compression_type="GZIP"),
            num_parallel_calls=tf.data.AUTOTUNE,
        )
        .map(
            lambda record: tf.io.parse_single_example(record, spec),
            num_parallel_calls=tf.data.AUTOTUNE,
        )
    )


def recipe_batches(rows: TrainingRows, files: list[str]) -> Work:
    """Reading of such files as published, epoch after epoch.

    Args:
        rows: the inputs and the size of a batch.
        files: what ``write_rows`` wrote.

    Returns:
        The work.
    """
    spec: dict[str, Any] = {
        LABEL: tf.io.FixedLenFeature([], tf.int64),
        WEIGHT: tf.io.FixedLenFeature([], tf.float32),
    }
    shapes: dict[str, list[int]] = {LABEL: [], WEIGHT: []}
    for one in rows.inputs:
        kind = tf.int64 if one.table else tf.float32
        shapes[one.name] = [one.length] if one.length else []
        spec[one.name] = (
            tf.io.FixedLenSequenceFeature([], kind, allow_missing=True)
            if one.kind == "ids"
            else tf.io.FixedLenFeature(shapes[one.name], kind)
        )
    batches = (
        published_rows(files, spec)
        .padded_batch(rows.config.batch_size, shapes)
        .prefetch(tf.data.AUTOTUNE)
    )
    data = batches.repeat()
    return lambda: (int(batch[LABEL].shape[0]) for batch in data)


def _record_batch(rows: TrainingRows, columns: dict[str, Any]) -> pa.RecordBatch:
    """Batches as Arrow; the padding of lists is left out."""
    lists = {one.name for one in rows.inputs if one.kind == "ids"}
    arrays = [
        _array(values.numpy(), padded=name in lists) for name, values in columns.items()
    ]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def _array(values: Values, padded: bool) -> pa.Array:
    """One column; of a padded one the values that are not 0."""
    if values.ndim == 1:
        return pa.array(values)
    kept = values != 0 if padded else np.ones(values.shape, np.bool_)
    ends = np.cumsum(kept.sum(axis=1))
    borders = np.concatenate([[0], ends]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(borders), pa.array(values[kept]))

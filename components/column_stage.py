"""The stage that turns TFMA's batches into columns by slice and user bucket.

Rows are shuffled once, by user bucket, with codes of their slice features; behind the
shuffle each bucket is cut into slices, and metrics get one extract a slice and bucket
that holds columns. Cutting first would send every row once for each of its slices.
"""

import dataclasses
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
import tensorflow_model_analysis as tfma
from numpy.typing import NDArray

from components.extract_settings import ExtractSettings
from components.extract_values import read_batch
from components.metrics.columns import (
    NO_USER,
    Columns,
    check_columns,
    encode_users,
)
from components.metrics.ranking_metrics import COLUMNS_KEY
from components.slices import SliceFeature, join_features, slice_groups


@dataclasses.dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of one batch and user bucket on their way through the shuffle.

    Attributes:
        ids: user ids [rows] as read: int64, or objects (bytes, int, None for no user).
        rows: labels, scores and weights of the rows; the users are not coded yet.
        features: slice features over these rows.
    """

    ids: NDArray[Any]
    rows: Columns
    features: dict[str, SliceFeature]


@beam.ptransform_fn
def SliceColumns(
    extracts: beam.PCollection, settings: ExtractSettings
) -> beam.PCollection:
    """Turns batched extracts into one extract of columns a slice and user bucket."""
    return (
        extracts
        | "SplitByUser" >> beam.FlatMap(split_by_user, settings)
        | "GroupUsers" >> beam.GroupByKey()
        | "CutSlices" >> beam.FlatMap(cut_slices, settings)
    )


def split_by_user(
    extracts: dict[str, Any], settings: ExtractSettings
) -> Iterator[tuple[int, Chunk]]:
    """Deals the rows of a batch to user buckets.

    Args:
        extracts: batched extracts of TFMA's feature and prediction stages.
        settings: what to read.

    Yields:
        Bucket and the batch's rows in it.

    Raises:
        PredictionsError: a label, prediction or weight broke a rule.
    """
    batch = read_batch(extracts, settings)
    row_count = len(batch.labels)
    checked, kept = check_columns(
        np.full(row_count, NO_USER, np.int64),
        batch.labels,
        batch.scores,
        batch.weights,
        batch.baseline,
        place="row (of a batch)",
    )
    kept = np.arange(row_count) if kept is None else kept
    ids = batch.ids[kept]
    buckets = _buckets(ids, kept, settings.buckets)
    for bucket in np.unique(buckets).tolist():
        picked = np.flatnonzero(buckets == bucket)
        features = {
            name: feature.take(kept[picked], row_count)
            for name, feature in batch.features.items()
        }
        yield bucket, Chunk(ids[picked], checked.take(picked), features)


def cut_slices(
    bucket_chunks: tuple[int, Iterable[Chunk]], settings: ExtractSettings
) -> Iterator[dict[str, Any]]:
    """Cuts the rows of a user bucket into slices.

    Args:
        bucket_chunks: bucket and all its chunks; a user is in one bucket only.
        settings: the slices to make.

    Yields:
        An extract a slice, with its key where TFMA looks for it and its columns.
    """
    chunks = list(bucket_chunks[1])
    rows = Columns(
        encode_users([one for chunk in chunks for one in chunk.ids.tolist()]),
        np.concatenate([chunk.rows.labels for chunk in chunks]),
        np.concatenate([chunk.rows.scores for chunk in chunks]),
        _joined([chunk.rows.weights for chunk in chunks]),
        _joined([chunk.rows.baseline for chunk in chunks]),
    )
    features = {
        name: join_features(
            [(chunk.features[name], len(chunk.rows)) for chunk in chunks]
        )
        for name in settings.slice_features()
    }
    for spec in settings.specs:
        for key, index in slice_groups(features, spec, len(rows)):
            slice_keys = np.empty(1, dtype=object)
            slice_keys[0] = key
            yield {
                tfma.SLICE_KEY_TYPES_KEY: slice_keys,
                COLUMNS_KEY: rows.take(index),
            }


def _joined(parts: list[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    """Joins a column that is in all chunks or in none."""
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None


def _buckets(
    ids: NDArray[Any], positions: NDArray[np.int64], buckets: int
) -> NDArray[np.int64]:
    """Bucket of each row: by user id, or spread by position without one.

    The hash is the same in every process, which Python's own is not.
    """
    hashes = (
        position if one in (None, b"", "") else _stable_hash(one)
        for one, position in zip(ids.tolist(), positions.tolist(), strict=True)
    )
    return np.fromiter(hashes, np.int64, len(ids)) % buckets


def _stable_hash(user_id: bytes | str | int) -> int:
    """CRC32 of the id as written."""
    text = user_id if isinstance(user_id, bytes) else str(user_id).encode()
    return zlib.crc32(text)

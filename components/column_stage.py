"""The stage that turns TFMA's batches into sums by slice and user bucket.

Rows are shuffled once, by user bucket, with codes of their slice features; behind the
shuffle each bucket is cut into slices. Cutting first would send every row once for each
of its slices. Two passes over the buckets follow: totals of each slice, then the squared
errors of its users around them. Metrics get these sums, never the rows, so that no
worker holds a whole slice.
"""

import dataclasses
import heapq
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import tensorflow_model_analysis as tfma
from apache_beam.transforms import window
from apache_beam.utils.windowed_value import WindowedValue
from numpy.typing import NDArray

from components.extract_settings import ExtractSettings
from components.extract_values import read_batch
from components.metrics.columns import (
    NO_USER,
    Columns,
    PredictionsError,
    check_columns,
    encode_users,
)
from components.metrics.pooled import AucTerms
from components.metrics.ranking_metrics import SUMS_KEY
from components.metrics.results import SliceKey
from components.metrics.slice_metrics import Part, SliceErrors
from components.metrics.slice_totals import SliceTotals, SliceValues
from components.slices import (
    SliceFeature,
    SliceSpec,
    by_size,
    join_features,
    slice_groups,
)

# Rows that are dealt to buckets at a time: chunks of some hundred rows, so that what
# comes with a chunk (a dozen arrays) weighs little.
_DEALT_ROWS = 1 << 15

# Metrics of a slice, and the terms that its pooled AUC adds by score.
Centre = tuple[SliceValues, list[AucTerms | None]]


@dataclasses.dataclass(frozen=True, slots=True)
class Chunk:
    """Rows on their way through the shuffle.

    Attributes:
        ids: user ids [rows] as read: int64, or objects (bytes, int, None for no user).
        rows: labels, scores and weights of the rows; the users are not coded yet.
        features: slice features over these rows.
    """

    ids: NDArray[Any]
    rows: Columns
    features: dict[str, SliceFeature]

    def take(self, index: NDArray[np.int64]) -> "Chunk":
        """Picks rows by ascending position."""
        count = len(self.rows)
        features = {name: one.take(index, count) for name, one in self.features.items()}
        return Chunk(self.ids[index], self.rows.take(index), features)

    @classmethod
    def joined(cls, chunks: Sequence["Chunk"]) -> "Chunk":
        """Puts the rows of several chunks one behind the other."""
        rows = Columns(
            np.concatenate([one.rows.users for one in chunks]),
            np.concatenate([one.rows.labels for one in chunks]),
            np.concatenate([one.rows.scores for one in chunks]),
            _joined([one.rows.weights for one in chunks]),
            _joined([one.rows.baseline for one in chunks]),
        )
        features = {
            name: join_features([(one.features[name], len(one.rows)) for one in chunks])
            for name in chunks[0].features
        }
        return cls(np.concatenate([one.ids for one in chunks]), rows, features)


@beam.ptransform_fn
def SliceSums(
    extracts: beam.PCollection, settings: ExtractSettings
) -> beam.PCollection:
    """Turns batched extracts into extracts of sums, several a slice."""
    buckets = (
        extracts
        | "DealUsers" >> beam.ParDo(DealUsers(settings))
        | "GroupUsers" >> beam.GroupByKey()
        | "CodeUsers" >> beam.MapTuple(lambda _, chunks: code_users(chunks))
    )
    largest = beam.pvalue.AsDict(
        buckets
        | "CountTopSlices" >> beam.FlatMap(top_slice_rows, settings)
        | "AddRows" >> beam.CombinePerKey(sum)
        | "BySpec" >> beam.MapTuple(lambda key, rows: (key[0], (rows, key[1])))
        | "GroupSpec" >> beam.GroupByKey()
        | "KeepLargest" >> beam.MapTuple(keep_largest)
    )
    centres = (
        buckets
        | "Totals" >> beam.FlatMap(slice_totals, settings, largest)
        | "AddTotals" >> beam.CombinePerKey(TotalsCombineFn(settings.score_limit))
        | "DropSmall" >> beam.Filter(large_enough, settings.min_slice_rows)
        | "Centre" >> beam.MapTuple(centre)
    )
    values = centres | "Values" >> beam.MapTuple(lambda key, found: (key, found[0]))
    errors = buckets | "Errors" >> beam.FlatMap(
        slice_errors, settings, beam.pvalue.AsDict(centres)
    )
    return (values, errors) | beam.Flatten() | "ToExtracts" >> beam.MapTuple(as_extract)


class DealUsers(beam.DoFn):
    """Deals the rows of batches to user buckets, some thousand rows at a time."""

    def __init__(self, settings: ExtractSettings) -> None:
        """Keeps what to read."""
        self._settings = settings
        self._chunks: list[Chunk] = []

    def start_bundle(self) -> None:
        """Begins without rows."""
        self._chunks = []

    def process(self, extracts: dict[str, Any]) -> Iterator[tuple[int, Chunk]]:
        """Reads a batch and deals rows once there are enough.

        Args:
            extracts: batched extracts of TFMA's feature and prediction stages.

        Yields:
            Bucket and rows in it.

        Raises:
            PredictionsError: a label, prediction or weight broke a rule.
        """
        self._chunks.append(read_chunk(extracts, self._settings))
        if sum(len(one.rows) for one in self._chunks) >= _DEALT_ROWS:
            yield from self._deal()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Deals the rows that are left."""
        for bucket_rows in self._deal():
            yield window.GlobalWindows.windowed_value(bucket_rows)

    def _deal(self) -> Iterator[tuple[int, Chunk]]:
        """Splits the rows so far by bucket."""
        if not self._chunks:
            return
        rows = Chunk.joined(self._chunks)
        self._chunks = []
        buckets = _buckets(rows.ids, self._settings.buckets)
        for bucket in np.unique(buckets).tolist():
            yield bucket, rows.take(np.flatnonzero(buckets == bucket))


class TotalsCombineFn(beam.CombineFn):
    """Adds the totals of a slice's user buckets."""

    def __init__(self, score_limit: int) -> None:
        """Keeps the most distinct scores to hold a slice and model."""
        self._score_limit = score_limit

    def create_accumulator(self) -> SliceTotals:
        """Makes empty totals."""
        return SliceTotals()

    def add_input(self, total: SliceTotals, part: SliceTotals) -> SliceTotals:
        """Adds one bucket."""
        total.merge(part, self._score_limit)
        return total

    def merge_accumulators(self, parts: Iterable[SliceTotals]) -> SliceTotals:
        """Adds totals up."""
        total = self.create_accumulator()
        for part in parts:
            total.merge(part, self._score_limit)
        return total

    def compact(self, total: SliceTotals) -> SliceTotals:
        """Shrinks the state before it is sent on."""
        total.compact(self._score_limit)
        return total

    def extract_output(self, total: SliceTotals) -> SliceTotals:
        """Returns the totals."""
        return self.compact(total)


def read_chunk(extracts: dict[str, Any], settings: ExtractSettings) -> Chunk:
    """Reads and checks the rows of a batch.

    Args:
        extracts: batched extracts of TFMA's feature and prediction stages.
        settings: what to read.

    Returns:
        The rows of positive weight.

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
    if kept is None:
        return Chunk(batch.ids, checked, batch.features)
    features = {name: one.take(kept, row_count) for name, one in batch.features.items()}
    return Chunk(batch.ids[kept], checked, features)


def code_users(chunks: Iterable[Chunk]) -> Chunk:
    """Joins the chunks of a bucket and codes its users; the ids end here.

    Args:
        chunks: all chunks of a bucket; a user is in one bucket only.

    Returns:
        Its rows, without ids.
    """
    chunk = Chunk.joined(list(chunks))
    rows = dataclasses.replace(chunk.rows, users=encode_users(chunk.ids))
    return Chunk(np.empty(len(rows), np.bool_), rows, chunk.features)


def top_slice_rows(
    chunk: Chunk, settings: ExtractSettings
) -> Iterator[tuple[tuple[SliceSpec, SliceKey], int]]:
    """Counts the rows of a bucket by value of the specs that keep the largest only."""
    for spec in settings.specs:
        if spec.top is not None:
            for key, index in slice_groups(chunk.features, spec, len(chunk.rows)):
                yield (spec, key), len(index)


def keep_largest(
    spec: SliceSpec, counted: Iterable[tuple[int, SliceKey]]
) -> tuple[SliceSpec, frozenset[SliceKey]]:
    """Picks the slices of a spec with the most rows.

    Args:
        spec: the spec, with the number to keep.
        counted: rows and key of each of its slices.

    Returns:
        The spec with the keys kept.
    """
    largest = heapq.nsmallest(
        spec.top or 0, counted, lambda one: by_size(key=one[1], rows=one[0])
    )
    return spec, frozenset(key for _, key in largest)


def slice_totals(
    chunk: Chunk,
    settings: ExtractSettings,
    largest: Mapping[SliceSpec, frozenset[SliceKey]],
) -> Iterator[tuple[SliceKey, SliceTotals]]:
    """First pass over a user bucket.

    Args:
        chunk: rows of the bucket.
        settings: the slices to make.
        largest: keys kept of the specs that keep the largest slices.

    Yields:
        Key and totals of each slice.
    """
    for spec in settings.specs:
        for key, index in slice_groups(chunk.features, spec, len(chunk.rows)):
            if spec.top is None or key in largest.get(spec, ()):
                yield key, _part(chunk, key, index, settings).totals()


def centre(key: SliceKey, totals: SliceTotals) -> tuple[SliceKey, Centre]:
    """What errors are measured from; the clicks by score end here."""
    return key, (totals.values(), totals.auc_terms())


def slice_errors(
    chunk: Chunk, settings: ExtractSettings, centres: Mapping[SliceKey, Centre]
) -> Iterator[tuple[SliceKey, SliceErrors]]:
    """Second pass over a user bucket.

    Args:
        chunk: rows of the bucket.
        settings: the slices to make.
        centres: each slice that is reported.

    Yields:
        Key and squared errors of each slice.
    """
    for spec in settings.specs:
        for key, index in slice_groups(chunk.features, spec, len(chunk.rows)):
            if key in centres:
                yield key, _part(chunk, key, index, settings).errors(*centres[key])


def large_enough(keyed: tuple[SliceKey, SliceTotals], min_rows: int) -> bool:
    """Whether a slice is reported: all rows, or enough of them."""
    key, totals = keyed
    return not key or totals.counts.rows >= min_rows


def as_extract(key: SliceKey, sums: SliceValues | SliceErrors) -> dict[str, Any]:
    """An extract with its slice where TFMA looks for it, and sums."""
    slice_keys = np.empty(1, dtype=object)
    slice_keys[0] = key
    return {tfma.SLICE_KEY_TYPES_KEY: slice_keys, SUMS_KEY: sums}


def _part(
    chunk: Chunk, key: SliceKey, index: NDArray[np.int64], settings: ExtractSettings
) -> Part:
    """Rows of a slice in a bucket; errors tell no values, which may hold user ids."""
    try:
        return Part(chunk.rows.take(index) if key else chunk.rows, settings.user_weight)
    except Exception as error:
        raise PredictionsError(
            f"metrics of {len(index)} rows failed: {type(error).__name__}"
        ) from None


def _joined(parts: list[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    """Joins a column that is in all chunks or in none."""
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None


def _buckets(ids: NDArray[Any], buckets: int) -> NDArray[np.int64]:
    """Bucket of each row: by user id, or spread by position without one.

    The hash is the same in every process, which Python's own is not.
    """
    hashes = (
        position if one in (None, b"", "") else _stable_hash(one)
        for position, one in enumerate(ids.tolist())
    )
    return np.fromiter(hashes, np.int64, len(ids)) % buckets


def _stable_hash(user_id: bytes | str | int) -> int:
    """CRC32 of the id as written."""
    text = user_id if isinstance(user_id, bytes) else str(user_id).encode()
    return zlib.crc32(text)

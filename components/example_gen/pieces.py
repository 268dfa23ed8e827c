"""Reading a file of the log into pieces: framed rows of one batch for one shard."""

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
from isal import isal_zlib

from components.example_gen.assign import assign
from components.example_gen.batches import PlacedBatch, read_batches
from components.example_gen.time_borders import TimeBorders
from data.arrays import Ints
from data.dataset import Dataset
from data.examples import encode
from data.layout import Layout
from data.mixing import spread
from data.readers.batch import BadRow
from data.readers.files import LogFile
from data.records import frame_all

ShardKey = tuple[str, int]
# File, batch, and number among the bad rows of the batch.
BadOrder = tuple[int, int, int]
# Of ISA-L: a tenth smaller than the fastest, at the same cost.
_LEVEL = 1
# Batches of one file before the seeds of the next file's begin.
_BATCHES_A_FILE = 1_000_003


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Rows of one batch that go to one shard.

    Attributes:
        order: file and batch, by which the pieces of a shard are sorted.
        rows: number of rows.
        clicks: rows with label 1.
        first: earliest time, unix seconds; None without a time column.
        last: latest time.
        framed: the rows as TFRecord records.
    """

    order: tuple[int, int]
    rows: int
    clicks: int
    first: int | None
    last: int | None
    framed: bytes


@dataclass(frozen=True, kw_only=True)
class ReadBatch:
    """What became of the rows of one batch.

    Attributes:
        rows_read: rows found, the bad ones included.
        bad: bad rows, each with its place in the order of the log.
        pieces: the good rows, by shard.
    """

    rows_read: int
    bad: list[tuple[BadOrder, BadRow]]
    pieces: list[tuple[ShardKey, Piece]]


class PieceReader:
    """Reads files and gives their rows as pieces of shards."""

    def __init__(
        self, dataset: Dataset, layout: Layout, shards: dict[str, int]
    ) -> None:
        """Declares what is read.

        Args:
            dataset: the declaration.
            layout: how the files are written.
            shards: number of shards by split.
        """
        self._dataset = dataset
        self._layout = layout
        self._shards = shards

    def read(self, file: LogFile, borders: TimeBorders | None) -> Iterator[ReadBatch]:
        """Reads one file.

        Args:
            file: the file.
            borders: between the splits, if they are by time.

        Yields:
            Its batches in order.

        Raises:
            DataError: the file is damaged, or has a bad row and these are refused.
        """
        for batch in read_batches(file, self._layout, self._dataset):
            masks = assign(batch, file, self._dataset, borders)
            yield ReadBatch(
                rows_read=batch.rows_read,
                bad=[
                    ((batch.file, batch.number, number), bad)
                    for number, bad in enumerate(batch.typed.bad)
                ],
                pieces=[
                    piece
                    for split, chosen in masks.items()
                    for piece in self._pieces(batch, split, np.flatnonzero(chosen))
                ],
            )

    def _pieces(
        self, batch: PlacedBatch, split: str, rows: Ints
    ) -> Iterator[tuple[ShardKey, Piece]]:
        """The pieces of the rows of one split."""
        if not len(rows):
            return
        keys = self._dataset.keys
        count = self._shards[split]
        seed = batch.file * _BATCHES_A_FILE + batch.number
        assigned = spread(len(rows), count, seed)
        # Encoded once, in the order of the shards.
        order = np.argsort(assigned, kind="stable")
        ordered = rows[order]
        examples = encode(_take(batch.typed.columns, ordered))
        labels = batch.values(keys.label_name)[ordered]
        times = batch.values(keys.timestamp.column)[ordered] if keys.timestamp else None
        ends = np.searchsorted(assigned[order], np.arange(count + 1))
        for shard, (start, stop) in enumerate(itertools.pairwise(ends)):
            if start == stop:
                continue
            own = None if times is None else times[start:stop]
            yield (
                (split, shard),
                Piece(
                    order=(batch.file, batch.number),
                    rows=int(stop - start),
                    clicks=int(labels[start:stop].sum()),
                    first=None if own is None else int(own.min()),
                    last=None if own is None else int(own.max()),
                    framed=frame_all(examples[start:stop]),
                ),
            )


def squeezed(piece: Piece) -> Piece:
    """A piece whose bytes are compressed, as it travels between workers.

    A shuffle holds every row, some runners several times; compressed to a fifth, which
    costs less than a microsecond a row.
    """
    framed = isal_zlib.compress(piece.framed, _LEVEL)
    return dataclasses.replace(piece, framed=framed)


def restored(piece: Piece) -> Piece:
    """A squeezed piece as it was."""
    return dataclasses.replace(piece, framed=isal_zlib.decompress(piece.framed))


class ReadAndEncode(beam.DoFn):
    """The same as a step of a Beam pipeline."""

    def __init__(self, reader: PieceReader) -> None:
        self._reader = reader

    def process(
        self, file: LogFile, borders: TimeBorders | None = None
    ) -> Iterator[Any]:
        """Yields pieces by shard, bad rows, and how many rows were read."""
        for batch in self._reader.read(file, borders):
            yield beam.pvalue.TaggedOutput("rows_read", batch.rows_read)
            for bad in batch.bad:
                yield beam.pvalue.TaggedOutput("bad", bad)
            for key, piece in batch.pieces:
                yield key, squeezed(piece)


def _take(batch: pa.RecordBatch, rows: Ints) -> pa.RecordBatch:
    """Rows of a record batch in a given order."""
    indices = pa.array(rows)
    return pa.RecordBatch.from_arrays(
        [column.take(indices) for column in batch.columns], batch.schema.names
    )

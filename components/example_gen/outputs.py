"""What an ingest leaves behind: shards, quarantined rows, and the manifest."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import IO

from components.example_gen.pieces import Piece, ShardKey, restored
from data import paths
from data.dataset import Dataset
from data.manifest import (
    QUARANTINE_FILE,
    Manifest,
    Shard,
    TimeSpan,
    make_split,
    write_manifest,
)
from data.readers.batch import BadRow
from data.readers.files import Log
from data.shards import ShardWriter


@dataclass(frozen=True, kw_only=True)
class Job:
    """What an ingest does.

    Attributes:
        dataset: the declaration.
        log: the files.
        shards: number of shards by split.
        output: folder of the ``Split-*`` folders.
        name: of the configuration, for the manifest.
    """

    dataset: Dataset
    log: Log
    shards: dict[str, int]
    output: str
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class WrittenShard:
    """A finished shard, its split and the span of its times."""

    split: str
    shard: Shard
    first: int | None
    last: int | None


def shard_file(split: str, index: int, count: int) -> str:
    """Path of a shard below the output, named as TFX names it."""
    return f"Split-{split}/data_tfrecord-{index:05d}-of-{count:05d}.gz"


class OpenShard:
    """A shard that is being written, piece by piece."""

    def __init__(self, output: str, key: ShardKey, counts: dict[str, int]) -> None:
        """Opens it.

        Args:
            output: folder of the ``Split-*`` folders.
            key: split and number.
            counts: number of shards by split.
        """
        self._split, index = key
        self._writer = ShardWriter(
            output, shard_file(self._split, index, counts[self._split])
        )
        self._first: int | None = None
        self._last: int | None = None

    def write(self, piece: Piece) -> None:
        """Appends a piece; pieces come in the order of the log."""
        self._writer.write(piece.framed, piece.rows, piece.clicks)
        if piece.first is not None and piece.last is not None:
            first, last = self._first, self._last
            self._first = piece.first if first is None else min(first, piece.first)
            self._last = piece.last if last is None else max(last, piece.last)

    def close(self) -> WrittenShard:
        """Ends it and gives it its name."""
        return WrittenShard(
            split=self._split,
            shard=self._writer.close(),
            first=self._first,
            last=self._last,
        )

    def __enter__(self) -> "OpenShard":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.__exit__(kind, error, trace)


def write_shard(
    group: tuple[ShardKey, Iterable[Piece | None]], output: str, counts: dict[str, int]
) -> WrittenShard:
    """Writes one shard, its pieces in the order of the log."""
    key, pieces = group
    ordered = sorted(
        (piece for piece in pieces if piece is not None), key=lambda piece: piece.order
    )
    with OpenShard(output, key, counts) as shard:
        for piece in ordered:
            shard.write(restored(piece))
        return shard.close()


class Quarantine:
    """Rows that are left out: a file that tells where they are, and counts by rule.

    Rows are written as they come, so that a log with many of them takes no memory.
    """

    def __init__(self, output: str) -> None:
        """Starts without rows, and without a file.

        Args:
            output: folder of the ``Split-*`` folders.
        """
        self._path = f"{output.rstrip('/')}/{QUARANTINE_FILE}"
        self._file: IO[bytes] | None = None
        self.rules: Counter[str] = Counter()

    def add(self, row: BadRow) -> None:
        """Writes a row; rows come in the order of the log."""
        if self._file is None:
            self._file = paths.open_write(self._path)
        entry = {
            "file": row.file,
            "place": row.place,
            "column": row.column,
            "reason": row.reason,
        }
        self._file.write(json.dumps(entry).encode() + b"\n")
        self.rules[_rule(row)] += 1

    def __enter__(self) -> "Quarantine":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            # In a store a file that ends by an error never appears.
            self._file.__exit__(kind, error, trace)


def write_outcome(
    job: Job, shards: list[WrittenShard], rules: Mapping[str, int], rows_read: int
) -> None:
    """Writes the manifest.

    Args:
        job: what was done.
        shards: all that were written.
        rules: quarantined rows by the rule that they broke.
        rows_read: rows found, those of the quarantine included.
    """
    splits = {}
    for split in job.dataset.split_names:
        own = [written for written in shards if written.split == split]
        first = [written.first for written in own if written.first is not None]
        last = [written.last for written in own if written.last is not None]
        span = TimeSpan(first=min(first), last=max(last)) if first and last else None
        splits[split] = make_split([written.shard for written in own], span)
    write_manifest(
        job.output,
        Manifest(
            dataset=job.name,
            layout=job.log.layout.name,
            rows_read=rows_read,
            rows_written=sum(split.rows for split in splits.values()),
            rows_quarantined=sum(rules.values()),
            quarantined=dict(sorted(rules.items())),
            notices=job.log.notices,
            splits=splits,
        ),
    )


def _rule(row: BadRow) -> str:
    """The rule that a row broke, without the value received."""
    rule = row.reason.split(", got '")[0]
    return f"{row.column}: {rule}" if row.column else rule

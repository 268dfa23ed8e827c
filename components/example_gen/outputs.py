"""What an ingest leaves behind: shards, quarantined rows, and the manifest."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from components.example_gen.pieces import Piece, ShardKey
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


def write_shard(
    group: tuple[ShardKey, Iterable[Piece | None]], output: str, counts: dict[str, int]
) -> WrittenShard:
    """Writes one shard, its pieces in the order of the log."""
    (split, index), pieces = group
    ordered = sorted(
        (piece for piece in pieces if piece is not None), key=lambda piece: piece.order
    )
    with ShardWriter(output, shard_file(split, index, counts[split])) as writer:
        for piece in ordered:
            writer.write(piece.framed, piece.rows, piece.clicks)
        shard = writer.close()
    first = [piece.first for piece in ordered if piece.first is not None]
    last = [piece.last for piece in ordered if piece.last is not None]
    return WrittenShard(
        split=split,
        shard=shard,
        first=min(first, default=None),
        last=max(last, default=None),
    )


def write_outcome(
    _: None,
    job: Job,
    shards: list[WrittenShard],
    bad: list[tuple[tuple[int, int, int], BadRow]],
    rows_read: int,
) -> None:
    """Writes manifest and quarantine."""
    splits = {}
    for split in job.dataset.split_names:
        own = [written for written in shards if written.split == split]
        first = [written.first for written in own if written.first is not None]
        last = [written.last for written in own if written.last is not None]
        span = TimeSpan(first=min(first), last=max(last)) if first and last else None
        splits[split] = make_split([written.shard for written in own], span)
    if bad:
        with paths.open_write(f"{job.output.rstrip('/')}/{QUARANTINE_FILE}") as file:
            for _order, row in sorted(bad, key=lambda item: item[0]):
                entry = {
                    "file": row.file,
                    "place": row.place,
                    "column": row.column,
                    "reason": row.reason,
                }
                file.write(json.dumps(entry).encode() + b"\n")
    rules = Counter(_rule(row) for _, row in bad)
    write_manifest(
        job.output,
        Manifest(
            dataset=job.name,
            layout=job.log.layout.name,
            rows_read=rows_read,
            rows_written=sum(split.rows for split in splits.values()),
            rows_quarantined=len(bad),
            quarantined=dict(sorted(rules.items())),
            notices=job.log.notices,
            splits=splits,
        ),
    )


def _rule(row: BadRow) -> str:
    """The rule that a row broke, without the value received."""
    rule = row.reason.split(", got '")[0]
    return f"{row.column}: {rule}" if row.column else rule

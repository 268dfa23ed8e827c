"""The rows that are profiled: whole shards, as they are stored and uncompressed."""

import dataclasses
import os
from collections.abc import Sequence

from components.training_rows import PackedSplit, TrainingRows
from data import paths
from data.packed import BLOCK_ROWS
from data.shards import payload_chunks


def first_shards(rows: TrainingRows, at_least: int) -> TrainingRows:
    """The same training on fewer shards.

    Args:
        rows: what a training reads.
        at_least: rows to keep, if there are as many.

    Returns:
        The first shards that hold them, without empty ones.
    """
    kept: list[int] = []
    count = 0
    for number, shard in enumerate(rows.train.shards):
        if shard.rows and count < at_least:
            kept.append(number)
            count += shard.rows
    split = PackedSplit(
        files=tuple(rows.train.files[number] for number in kept),
        shards=tuple(rows.train.shards[number] for number in kept),
    )
    return dataclasses.replace(rows, train=split)


def uncompressed(rows: TrainingRows, folder: str) -> TrainingRows:
    """Copies shards without their compression.

    Args:
        rows: what to copy.
        folder: receives the copies.

    Returns:
        The same training on the copies.
    """
    files = []
    for number, path in enumerate(rows.train.files):
        files.append(os.path.join(folder, f"plain-{number}"))
        with open(files[-1], "wb") as file:
            file.writelines(payload_chunks(path))
    split = dataclasses.replace(rows.train, files=tuple(files))
    return dataclasses.replace(rows, train=split)


def reread(rows: TrainingRows, **settings: int | str) -> TrainingRows:
    """The same rows, read with other settings.

    Args:
        rows: what a training reads.
        settings: of ``TrainConfig``, unchecked: ``shuffle_rows=0`` is the order of the
            files.

    Returns:
        The training with these settings.
    """
    config = rows.config.model_copy(update=settings)
    return dataclasses.replace(rows, config=config)


def row_count(rows: TrainingRows) -> int:
    """Rows of the training shards."""
    return sum(shard.rows for shard in rows.train.shards)


def rows_per_block(rows: TrainingRows) -> float:
    """Mean rows of a packed block; the last block of a shard is smaller."""
    blocks = sum(-(-shard.rows // BLOCK_ROWS) for shard in rows.train.shards)
    return row_count(rows) / blocks


def rows_per_byte(rows: TrainingRows) -> float:
    """Mean rows of a byte of the training files."""
    return row_count(rows) / stored_bytes(rows.train.files)


def stored_bytes(files: Sequence[str]) -> int:
    """Bytes of files, as they are stored."""
    return sum(map(paths.size, files))

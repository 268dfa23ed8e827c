"""The stages of reading, each by what a pipeline with it costs more than one without.

``tf.data`` overlaps its stages, so none can be timed inside the whole. Each pipeline
here has one stage more than the one before, and all are what the training reads with.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from components.profiling.sample import reread, rows_per_block, rows_per_byte
from components.profiling.timing import Cost, Work
from components.record_source import read_records
from components.training_rows import TrainingRows
from data import paths
from data.packed import BLOCK_ROWS
from data.records import CHUNK_BYTES

STAGES = ("read", "decompress", "frame", "unpack", "shuffle", "batch")
# Blocks handed over at once: as many as the reader of packed shards unpacks together.
_GROUP = 128


def pipelines(rows: TrainingRows, plain: TrainingRows | None) -> dict[str, Work]:
    """The pipelines whose differences are the stages.

    Args:
        rows: what the training reads.
        plain: the same without compression; None where it has none anyway.

    Returns:
        By name; ``input`` is all that the training does before a step.
    """
    in_order = reread(rows, shuffle_rows=0, batch_size=_GROUP * BLOCK_ROWS)
    shuffled = reread(rows, batch_size=_GROUP * BLOCK_ROWS)
    works: dict[str, Work] = {
        "bytes": functools.partial(_read_bytes, rows),
        "records": _blocks(rows),
        "unpacked": batches(in_order),
        "shuffled": batches(shuffled),
        "input": batches(rows),
    }
    if plain is not None:
        works["plain_bytes"] = functools.partial(_read_bytes, plain)
        works["plain_records"] = _blocks(plain)
    return works


def differences(costs: Mapping[str, Cost]) -> dict[str, Cost]:
    """Stages from pipelines.

    Args:
        costs: of each of ``pipelines``.

    Returns:
        By stage what it adds. Together they are the cost of ``input``, unless noise
        made a longer pipeline cheaper than a shorter one.
    """
    read, records = costs["bytes"], costs["records"]
    frame = costs.get("plain_records", records).beyond(costs.get("plain_bytes", read))
    return {
        "read": read,
        "decompress": records.beyond(read.plus(frame)),
        "frame": frame,
        "unpack": costs["unpacked"].beyond(records),
        "shuffle": costs["shuffled"].beyond(costs["unpacked"]),
        "batch": costs["input"].beyond(costs["shuffled"]),
    }


def batches(rows: TrainingRows) -> Work:
    """Reading of batches as a training does it, epoch after epoch."""
    data = rows.epoch(0).repeat()
    return lambda: (int(label.shape[0]) for _, label, _ in data)


def copies(batch: Any, device: str) -> Iterator[float]:
    """Copies a batch to a device, again and again.

    Args:
        batch: inputs, label and weight in the memory of the host.
        device: name of the accelerator.

    Yields:
        Its rows, once all have arrived.
    """
    while True:
        with tf.device(device):
            tf.nest.map_structure(tf.identity, batch)
        tf.test.experimental.sync_devices()
        yield int(batch[1].shape[0])


def _read_bytes(rows: TrainingRows) -> Iterator[float]:
    """Reads the files without looking into them."""
    ratio = rows_per_byte(rows)
    while True:
        for path in rows.train.files:
            with paths.open_read(path) as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield len(chunk) * ratio


def _blocks(rows: TrainingRows) -> Work:
    """Reading of blocks without unpacking them."""
    ratio = rows_per_block(rows)
    data = read_records(rows.train.files, _GROUP, False, (0, 0)).repeat()
    return lambda: (int(blocks.shape[0]) * ratio for blocks in data)

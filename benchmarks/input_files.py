"""Rows of two schemas for the input benchmark: per-row files, and the same rows packed.

``narrow`` has 10 ids in one feature and 5 floats in another, beside an id; ``wide`` has
26 ids and 13 floats, a feature each, and 3 lists of ids of mean length 20, at most 50.
Ids follow a power law, as those of click logs do.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from components.packing.layout import column_of
from data.arrays import Ints, Values
from data.examples import encode
from data.inputs import ModelInput
from data.packed import PackedColumn, PackedLayout
from data.packed_shards import write_packed
from data.records import frame_all
from data.shards import ShardWriter

LABEL = "label"
NUMBER = "row"
SHARDS = 8
_BATCH = 8192
_LIST = 50
_LIST_MEAN = 20
_LIST_IDS = 100_000
# Vocabularies of 100 to a million ids, in turn.
_SIZES = tuple(10**power for power in (2, 3, 4, 5, 6))
SCHEMAS = ("narrow", "wide")


def inputs_of(schema: str) -> tuple[ModelInput, ...]:
    """The inputs of a schema.

    Args:
        schema: ``narrow`` or ``wide``.

    Returns:
        The inputs; among them the number of the row, by which order is judged.
    """
    if schema == "narrow":
        ids = _ids_input("ids", 10, 1_000_000)
        return ids, ModelInput(name="numbers", kind="vector", length=5), _id(NUMBER)
    return (
        *(_id(f"id_{i:02d}", _SIZES[i % len(_SIZES)]) for i in range(26)),
        *(ModelInput(name=f"number_{i:02d}", kind="number") for i in range(13)),
        *(_ids_input(f"list_{i}", _LIST, _LIST_IDS) for i in range(3)),
        _id(NUMBER),
    )


def _ids_input(name: str, length: int, size: int) -> ModelInput:
    """A list of ids from 1 to ``size``."""
    return ModelInput(
        name=name, kind="ids", length=length, table=name, vocabulary_size=size + 1
    )


def _id(name: str, size: int = 2**31 - 2) -> ModelInput:
    """An id from 1 to ``size``."""
    return ModelInput(name=name, kind="id", table=name, vocabulary_size=size + 1)


def layout_of(schema: str) -> PackedLayout:
    """The packed layout of a schema, as packing chooses it."""
    label = PackedColumn(name=LABEL, dtype="uint8")
    return PackedLayout(columns=(label, *map(column_of, inputs_of(schema))))


def write_files(schema: str, rows: int, folder: Path) -> None:
    """Writes the same rows as ``rows`` (GZIP), ``packed_gzip`` and ``packed_plain``.

    Args:
        schema: ``narrow`` or ``wide``.
        rows: how many, over all shards.
        folder: receives the three folders.
    """
    layout = layout_of(schema)
    per_shard = rows // SHARDS
    for shard in range(SHARDS):
        first = shard * per_shard
        batches = list(_batches(schema, first, per_shard))
        with ShardWriter(str(folder / "rows"), f"data/{shard}") as writer:
            for batch in batches:
                writer.write(frame_all(encode(_record_batch(batch))), 0, 0)
            writer.close()
        for name, compress in (("packed_gzip", True), ("packed_plain", False)):
            target, file = str(folder / name), f"data/{shard}"
            write_packed(target, file, layout, batches, LABEL, compress=compress)


def _batches(schema: str, first: int, count: int) -> Iterator[dict[str, Values]]:
    """Rows numbered from ``first``, in batches."""
    random = np.random.default_rng(first)
    for start in range(first, first + count, _BATCH):
        size = min(_BATCH, first + count - start)
        batch: dict[str, Values] = {
            LABEL: (random.random(size) < 0.05).astype(np.int64)
        }
        for one in inputs_of(schema):
            if one.name == NUMBER:
                batch[NUMBER] = np.arange(start, start + size)
            elif not one.table:
                shape = (size, one.length) if one.length else size
                batch[one.name] = random.lognormal(0, 1, shape).astype(np.float32)
            elif one.kind == "id":
                batch[one.name] = _ids(random, size, one.vocabulary_size - 1)
            else:
                batch[one.name] = _lists(random, size, one)
        yield batch


def _lists(random: np.random.Generator, rows: int, one: ModelInput) -> Ints:
    """Lists padded with 0; those of ``narrow`` are all of full length."""
    ids = _ids(random, rows * one.length, one.vocabulary_size - 1)
    lists = ids.reshape(rows, one.length)
    if one.length == _LIST:
        lengths = random.poisson(_LIST_MEAN, rows)
        lists[np.arange(one.length) >= lengths[:, None]] = 0
    return lists


def _ids(random: np.random.Generator, count: int, size: int) -> Ints:
    """Ids from 1 to ``size``; frequent ids are small, as vocabularies have them."""
    exponent = -1 / 0.15
    ranks = np.minimum(random.random(count) ** exponent, 1e15).astype(np.int64)
    return ranks % size + 1


def _record_batch(batch: dict[str, Values]) -> pa.RecordBatch:
    """Columns as Arrow; padding of lists is left out."""
    columns = []
    for values in batch.values():
        if values.ndim == 1:
            columns.append(pa.array(values))
            continue
        kept = values != 0
        ends = np.cumsum(kept.sum(axis=1), dtype=np.int32)
        borders = pa.array(np.concatenate([[0], ends]).astype(np.int32))
        columns.append(pa.ListArray.from_arrays(borders, pa.array(values[kept])))
    return pa.RecordBatch.from_arrays(columns, list(batch))

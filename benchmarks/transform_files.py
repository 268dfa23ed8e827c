"""Wide raw rows for the benchmark of Transform and packing, as an ingest writes them.

26 ids of 8 hexadecimal digits, 13 numbers and 3 lists of such ids, of mean length 20 and
at most 50; all ids are hashed. Ids follow a power law, as those of click logs do.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tensorflow_data_validation import write_schema_text
from tensorflow_metadata.proto.v0 import schema_pb2

from components.schema_gen import SCHEMA_FILE, declare
from data.arrays import Ints
from data.dataset import Dataset
from data.examples import encode
from data.manifest import Manifest, Shard, make_split, write_manifest
from data.records import frame_all
from data.shards import ShardWriter

SHARDS = 8
_BATCH = 8192
_BUCKETS = 1_000_000
_LIST = 50
_LIST_MEAN = 20
_IDS = [f"id_{i:02d}" for i in range(26)]
_NUMBERS = [f"number_{i:02d}" for i in range(13)]
_LISTS = [f"list_{i}" for i in range(3)]


def dataset() -> Dataset:
    """The declaration; no feature needs a look at all rows."""
    features: list[dict[str, Any]] = [
        *({"name": one, "kind": "categorical", "buckets": _BUCKETS} for one in _IDS),
        *({"name": one, "kind": "numeric", "z_score": False} for one in _NUMBERS),
        *(
            {"name": one, "kind": "sequence", "buckets": _BUCKETS, "max_length": _LIST}
            for one in _LISTS
        ),
    ]
    split = {"by": "hash", "columns": ["id_00"]}
    return Dataset.model_validate(
        {"keys": {"label": "click"}, "split": split, "features": features}
    )


def write_rows(folder: Path, rows: int) -> None:
    """Writes GZIP shards of one tf.Example a row, their manifest and their schema.

    Args:
        folder: receives all of it; the schema in a folder ``schema``.
        rows: how many, over all shards.
    """
    random = np.random.default_rng(rows)
    shards = [_write_shard(folder, i, rows // SHARDS, random) for i in range(SHARDS)]
    split = make_split(shards, None)
    manifest = Manifest(
        rows_read=split.rows,
        rows_written=split.rows,
        rows_quarantined=0,
        splits={"train": split},
    )
    write_manifest(str(folder), manifest)
    schema = folder / "schema"
    schema.mkdir()
    write_schema_text(
        declare(dataset(), schema_pb2.Schema()), str(schema / SCHEMA_FILE)
    )


def _write_shard(
    folder: Path, index: int, rows: int, random: np.random.Generator
) -> Shard:
    """One shard, in batches."""
    file = f"Split-train/data_tfrecord-{index:05d}-of-{SHARDS:05d}.gz"
    with ShardWriter(str(folder), file) as writer:
        for start in range(0, rows, _BATCH):
            batch = _rows(random, min(_BATCH, rows - start))
            clicks = pc.sum(batch["click"]).as_py()
            writer.write(frame_all(encode(batch)), len(batch), clicks)
        return writer.close()


def _rows(random: np.random.Generator, rows: int) -> pa.RecordBatch:
    """Some raw rows."""
    columns: dict[str, pa.Array] = {
        "click": pa.array((random.random(rows) < 0.05).astype(np.int64))
    }
    for name in _IDS:
        columns[name] = _texts(_ids(random, rows))
    for name in _NUMBERS:
        columns[name] = pa.array(random.lognormal(0, 1, rows), pa.float32())
    for name in _LISTS:
        lengths = np.minimum(random.poisson(_LIST_MEAN, rows), _LIST)
        borders = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        values = _texts(_ids(random, int(borders[-1])))
        columns[name] = pa.ListArray.from_arrays(pa.array(borders), values)
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _ids(random: np.random.Generator, count: int) -> Ints:
    """Ids below 2^32; frequent ones repeat often."""
    exponent = -1 / 0.15
    ranks = np.minimum(random.random(count) ** exponent, 1e15).astype(np.int64)
    # A multiplication by an odd constant spreads the ranks over all eight digits.
    return ranks * 2_654_435_761 % 2**32


def _texts(ids: Ints) -> pa.Array:
    """Ids as 8 hexadecimal digits."""
    digits = ids.astype(">u4").tobytes().hex().encode()
    borders = np.arange(0, 8 * len(ids) + 1, 8, dtype=np.int32)
    return pa.Array.from_buffers(
        pa.binary(), len(ids), [None, pa.py_buffer(borders), pa.py_buffer(digits)]
    )

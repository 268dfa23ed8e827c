"""Rows of verified shards as columns, and as the bytes that make them equal."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from data.columns import Column
from data.errors import DataError
from data.manifest import Manifest
from data.readers.example_parser import ExampleParser
from data.shard_records import shard_records

BATCH_ROWS = 16_384
_TYPES = {"bytes": pa.binary(), "int64": pa.int64(), "float": pa.float32()}


@dataclass(frozen=True, kw_only=True)
class RowBatch:
    """Some rows of a shard.

    Attributes:
        split: name of the split.
        shard: file of the shard, relative to the manifest.
        records: serialized tf.Examples; equal rows have equal bytes.
        columns: the same rows as one list array for each column.
    """

    split: str
    shard: str
    records: Sequence[bytes]
    columns: Mapping[str, pa.Array]


def read_rows(
    folder: str, manifest: Manifest, columns: Sequence[Column]
) -> Iterator[RowBatch]:
    """Reads every shard once.

    Args:
        folder: of the manifest.
        manifest: what the shards are.
        columns: the columns of the shards.

    Yields:
        Batches of at most ``BATCH_ROWS`` rows.

    Raises:
        DataError: a record is damaged or no tf.Example, a column has another type than
            declared, or a row lacks a required column.
    """
    parser = ExampleParser([column.name for column in columns])
    for split, content in manifest.splits.items():
        for shard in content.shards:
            records = shard_records(f"{folder.rstrip('/')}/{shard.file}")
            while batch := list(itertools.islice(records, BATCH_ROWS)):
                arrays, unreadable = parser.parse(batch)
                if unreadable:
                    raise DataError(
                        f"{shard.file}: {len(unreadable)} records are no tf.Examples; "
                        "write the shards again with ctr ingest"
                    )
                yield RowBatch(
                    split=split,
                    shard=shard.file,
                    records=batch,
                    columns={
                        column.name: _checked(column, array, shard.file)
                        for column, array in zip(columns, arrays, strict=True)
                    },
                )


def _checked(column: Column, lists: pa.Array, shard: str) -> pa.Array:
    """Refuses values of another type, and rows without what every row has."""
    expected = _TYPES[column.dtype]
    if pa.types.is_null(lists.type):
        lists = lists.cast(pa.list_(expected))
    values = lists.flatten()
    remedy = "write the shards again with ctr ingest"
    if len(values) and values.type != expected:
        raise DataError(
            f"{shard}: column {column.name!r} holds {values.type}, expected {expected}; "
            f"{remedy}"
        )
    if column.required and len(values) != len(lists):
        raise DataError(
            f"{shard}: column {column.name!r} has {len(values):,} values in "
            f"{len(lists):,} rows, expected one in each; {remedy}"
        )
    return lists

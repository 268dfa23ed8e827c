"""Packing one shard: read, transform and write it in batches, within one worker."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import tensorflow as tf
import tensorflow_transform as tft

from components.preprocessing import LABEL
from data.arrays import Values
from data.errors import DataError
from data.manifest import Shard
from data.packed import PackedLayout
from data.packed_shards import write_packed
from data.shard_records import shard_records

# Rows that go through the transform's graph at once: enough that its hundreds of small
# steps cost little a row.
_BATCH = 4096


@dataclass(frozen=True, kw_only=True)
class PackJob:
    """What to pack, and how.

    Attributes:
        source: folder with the shards of rows.
        transform: output folder of Transform.
        target: folder that receives the packed shards.
        layout: what to store.
        compress: GZIP, else no compression.
    """

    source: str
    transform: str
    target: str
    layout: PackedLayout
    compress: bool


@dataclass(frozen=True, kw_only=True)
class PackedShard:
    """A finished shard and its split."""

    split: str
    shard: Shard


class ShardPacker:
    """Applies the saved transform to shards and writes their rows, in order, packed.

    A shard is packed as a whole, so its rows need no shuffling between workers, and a
    worker holds one batch of it at a time. Which rows share a shard was settled at
    random when the log was read.
    """

    def __init__(self, job: PackJob) -> None:
        """Loads the transform's graph.

        Args:
            job: what to pack.
        """
        self._job = job
        output = tft.TFTransformOutput(job.transform)
        layer = output.transform_features_layer()
        spec = output.raw_feature_spec()
        names = [column.name for column in job.layout.columns]

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def apply(records: tf.Tensor) -> dict[str, tf.Tensor]:
            transformed = layer(tf.io.parse_example(records, spec))
            return {name: transformed[name] for name in names}

        self._apply = apply.get_concrete_function()

    def pack(self, split: str, rows: Shard) -> PackedShard:
        """Packs one shard.

        Args:
            split: its split.
            rows: what the manifest says about the shard of rows.

        Returns:
            What was written.

        Raises:
            DataError: the shard is absent, cut or damaged, or has other rows than its
                manifest says.
        """
        job = self._job
        path = f"{job.source}/{rows.file}"
        packed = write_packed(
            job.target,
            rows.file if job.compress else rows.file.removesuffix(".gz"),
            job.layout,
            self._batches(path),
            LABEL,
            compress=job.compress,
        )
        if (packed.rows, packed.clicks) != (rows.rows, rows.clicks):
            raise DataError(
                f"{path}: {packed.rows} rows with {packed.clicks} clicks read, "
                f"{rows.rows} with {rows.clicks} in the manifest: the file was cut or "
                "changed; run the pipeline again"
            )
        return PackedShard(split=split, shard=packed)

    def _batches(self, path: str) -> Iterator[dict[str, Values]]:
        """Transformed rows of a shard, in order."""
        records = shard_records(path)
        while batch := list(itertools.islice(records, _BATCH)):
            transformed = self._apply(tf.constant(batch))
            yield {name: values.numpy() for name, values in transformed.items()}

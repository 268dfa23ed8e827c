"""Packing one shard: read, transform and write it in batches, within one worker."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import tensorflow as tf
import tensorflow_transform as tft

from components.preprocessing import LABEL
from components.record_source import read_records
from data.arrays import Values
from data.errors import DataError
from data.manifest import Shard
from data.packed import PackedLayout
from data.packed_shards import write_packed

# Rows that go through the transform's graph at once: enough that its hundreds of small
# steps cost little a row.
_BATCH = 4096


@dataclass(frozen=True, kw_only=True)
class PackedShard:
    """A finished shard and its split."""

    split: str
    shard: Shard


class PackShard(beam.DoFn):
    """Applies the saved transform to a shard and writes its rows, in order, packed.

    A shard is one element, so its rows need no shuffling between workers, and a worker
    holds one batch of it at a time. Which rows share a shard was settled at random when
    the log was read.
    """

    def __init__(
        self,
        source: str,
        transform: str,
        target: str,
        layout: PackedLayout,
        compress: bool,
    ) -> None:
        """Declares where to read and write.

        Args:
            source: folder with the shards of rows.
            transform: output folder of Transform.
            target: folder that receives the packed shards.
            layout: what to store.
            compress: GZIP, else no compression.
        """
        self._source = source
        self._transform = transform
        self._target = target
        self._layout = layout
        self._compress = compress
        self._apply: Any = None

    def setup(self) -> None:
        """Loads the transform's graph once a worker."""
        output = tft.TFTransformOutput(self._transform)
        layer = output.transform_features_layer()
        spec = output.raw_feature_spec()
        names = [column.name for column in self._layout.columns]

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def apply(records: tf.Tensor) -> dict[str, tf.Tensor]:
            transformed = layer(tf.io.parse_example(records, spec))
            return {name: transformed[name] for name in names}

        self._apply = apply

    def process(self, element: tuple[str, Shard]) -> Iterator[PackedShard]:
        """Packs one shard.

        Args:
            element: the split, and what the manifest says about the shard of rows.

        Yields:
            What was written.

        Raises:
            DataError: the shard has other rows than its manifest says.
        """
        split, rows = element
        packed = write_packed(
            self._target,
            rows.file if self._compress else rows.file.removesuffix(".gz"),
            self._layout,
            self._batches(f"{self._source}/{rows.file}"),
            LABEL,
            compress=self._compress,
        )
        if (packed.rows, packed.clicks) != (rows.rows, rows.clicks):
            raise DataError(
                f"{self._source}/{rows.file}: {packed.rows} rows with {packed.clicks} "
                f"clicks read, {rows.rows} with {rows.clicks} in the manifest: the file "
                "was cut or changed; run the pipeline again"
            )
        yield PackedShard(split=split, shard=packed)

    def _batches(self, path: str) -> Iterator[dict[str, Values]]:
        """Transformed rows of a shard, in order."""
        for records in read_records([path], _BATCH, False, (0, 0)):
            yield {
                name: values.numpy() for name, values in self._apply(records).items()
            }

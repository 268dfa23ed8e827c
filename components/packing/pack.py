"""Packing the splits of an ``Examples`` artifact, as a Beam pipeline."""

from collections.abc import Sequence

import apache_beam as beam

from components.packing.shard import PackedShard, PackShard
from data import paths
from data.manifest import Manifest, make_split, read_manifest, write_manifest
from data.packed import PackedLayout

_WRITING = "_writing"


def pack(
    pipeline: beam.Pipeline,
    source: str,
    transform: str,
    target: str,
    layout: PackedLayout,
    *,
    splits: Sequence[str],
    compress: bool = True,
) -> None:
    """Packs splits and writes their manifest; runs the pipeline.

    Args:
        pipeline: an empty pipeline.
        source: folder with the shards of rows and their manifest.
        transform: output folder of Transform.
        target: folder that receives ``Split-*`` and the manifest.
        layout: what to store.
        splits: names of the splits to pack.
        compress: GZIP, else no compression.

    Raises:
        DataError: a shard of rows is absent, damaged, or not what its manifest says.
    """
    manifest = read_manifest(source)
    tasks = [
        (split, shard) for split in splits for shard in manifest.splits[split].shards
    ]
    try:
        with pipeline:
            packed = (
                pipeline
                | "Shards" >> beam.Create(tasks)
                | "SpreadShards" >> beam.Reshuffle()
                | "PackShard"
                >> beam.ParDo(PackShard(source, transform, target, layout, compress))
            )
            _ = (
                pipeline
                | "Once" >> beam.Create([None])
                | "WriteManifest"
                >> beam.Map(
                    _write_manifest, manifest, target, beam.pvalue.AsList(packed)
                )
            )
    finally:
        paths.remove_tree(f"{target.rstrip('/')}/{_WRITING}")


def _write_manifest(
    _: None, source: Manifest, target: str, packed: list[PackedShard]
) -> None:
    """Writes the manifest of the packed shards."""
    splits = {
        name: make_split(
            [one.shard for one in packed if one.split == name],
            source.splits[name].time,
        )
        for name in sorted({one.split for one in packed})
    }
    rows = sum(split.rows for split in splits.values())
    write_manifest(
        target,
        Manifest(
            dataset=source.dataset,
            layout=source.layout,
            rows_read=rows,
            rows_written=rows,
            rows_quarantined=0,
            splits=splits,
        ),
    )

"""Packing the splits of an ``Examples`` artifact, here or in a Beam pipeline."""

from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam

from components.packing.shard import PackedShard, PackJob, ShardPacker
from data import paths
from data.manifest import Manifest, Shard, make_split, read_manifest, write_manifest

_WRITING = "_writing"
_Task = tuple[str, Shard]


def pack(
    job: PackJob, splits: Sequence[str], pipeline: beam.Pipeline | None = None
) -> None:
    """Packs splits and writes their manifest.

    Args:
        job: what to pack; its source holds a manifest.
        splits: names of the splits to pack.
        pipeline: an empty pipeline, which is run; None packs in this process, which
            on one machine saves what Beam costs.

    Raises:
        DataError: a shard of rows is absent, damaged, or not what its manifest says.
    """
    manifest = read_manifest(job.source)
    tasks = [
        (split, shard) for split in splits for shard in manifest.splits[split].shards
    ]
    try:
        if pipeline is None:
            packer = ShardPacker(job)
            # One by one: TensorFlow has threads of its own.
            packed = [packer.pack(*task) for task in tasks]
            _write_manifest(packed, job.target, manifest, splits)
        else:
            _pack_in_beam(pipeline, job, tasks, manifest, splits)
    finally:
        paths.remove_tree(f"{job.target.rstrip('/')}/{_WRITING}")


def _pack_in_beam(
    pipeline: beam.Pipeline,
    job: PackJob,
    tasks: Sequence[_Task],
    manifest: Manifest,
    splits: Sequence[str],
) -> None:
    """Packs shards in the workers of a runner, and writes the manifest there."""
    with pipeline:
        packed = (
            pipeline
            | "Shards" >> beam.Create(tasks)
            | "SpreadShards" >> beam.Reshuffle()
            | "PackShard" >> beam.ParDo(_PackShard(job))
        )
        _ = (
            pipeline
            | "Once" >> beam.Create([None])
            | "WriteManifest"
            >> beam.Map(
                lambda _, shards: _write_manifest(shards, job.target, manifest, splits),
                beam.pvalue.AsList(packed),
            )
        )


class _PackShard(beam.DoFn):
    """Packs a shard; the element is a split and what the manifest says of the shard."""

    def __init__(self, job: PackJob) -> None:
        self._job = job

    def setup(self) -> None:
        """Loads the transform's graph once a worker."""
        self._packer = ShardPacker(self._job)

    def process(self, element: _Task) -> Iterator[PackedShard]:
        """Packs one shard."""
        yield self._packer.pack(*element)


def _write_manifest(
    packed: Iterable[PackedShard], target: str, source: Manifest, names: Sequence[str]
) -> None:
    """Writes the manifest of the packed shards."""
    splits = {
        name: make_split(
            [one.shard for one in packed if one.split == name],
            source.splits[name].time,
        )
        for name in names
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

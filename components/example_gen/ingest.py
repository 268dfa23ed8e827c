"""The ingest as a Beam pipeline: files to batches to shards and a manifest.

Batches are read, converted, split and encoded as wholes; what travels between workers
is bytes of framed records, one piece for each batch and shard. The same input gives
the same bytes, whatever the runner and the number of workers.
"""

from typing import Any

import apache_beam as beam

from components.example_gen.outputs import (
    Job,
    Quarantine,
    WrittenShard,
    write_outcome,
    write_shard,
)
from components.example_gen.pieces import BadOrder, PieceReader, ReadAndEncode
from components.example_gen.time_borders import time_borders
from data.layout import TimeSplit
from data.readers.batch import BadRow


def build(pipeline: beam.Pipeline, job: Job) -> None:
    """Adds the ingest to a Beam pipeline; its last step writes the manifest.

    Args:
        pipeline: an empty pipeline.
        job: what to do.
    """
    dataset, layout = job.dataset, job.log.layout
    files = (
        pipeline
        | "Files" >> beam.Create(list(job.log.files))
        | "SpreadFiles" >> beam.Reshuffle()
    )
    sides: dict[str, Any] = {}
    if isinstance(dataset.split, TimeSplit):
        borders = time_borders(files, dataset, layout)
        sides["borders"] = beam.pvalue.AsSingleton(borders)
    read = files | "ReadAndEncode" >> beam.ParDo(
        ReadAndEncode(PieceReader(dataset, layout, job.shards)), **sides
    ).with_outputs("bad", "rows_read", main="pieces")
    # Every shard is named by its number of all, so each exists even without rows.
    empty = pipeline | "EveryShard" >> beam.Create(
        [
            ((split, index), None)
            for split in dataset.split_names
            for index in range(job.shards[split])
        ]
    )
    shards = (
        (read.pieces, empty)
        | "Pieces" >> beam.Flatten()
        | "ByShard" >> beam.GroupByKey()
        | "WriteShard" >> beam.Map(write_shard, job.output, job.shards)
    )
    _ = (
        pipeline
        | "Once" >> beam.Create([None])
        | "WriteManifest"
        >> beam.Map(
            lambda _, *outcome: _write_outcome(job, *outcome),
            beam.pvalue.AsList(shards),
            beam.pvalue.AsList(read.bad),
            beam.pvalue.AsSingleton(
                read.rows_read | "SumRows" >> beam.CombineGlobally(sum)
            ),
        )
    )


def _write_outcome(
    job: Job,
    shards: list[WrittenShard],
    bad: list[tuple[BadOrder, BadRow]],
    rows_read: int,
) -> None:
    """Writes the quarantine, in the order of the log, and the manifest."""
    with Quarantine(job.output) as quarantine:
        for _, row in sorted(bad, key=lambda item: item[0]):
            quarantine.add(row)
    write_outcome(job, shards, quarantine.rules, rows_read)

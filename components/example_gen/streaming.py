"""The ingest on one machine, without Beam: file by file, in bounded memory.

Beam's runner for one machine keeps all pieces of a shuffle in memory. Here every shard is
open at once and gets each piece as it is read, in the order of the log, so the bytes are
those that the Beam pipeline writes.
"""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

from components.example_gen.outputs import Job, OpenShard, Quarantine, write_outcome
from components.example_gen.pieces import PieceReader, ReadBatch, ShardKey
from components.example_gen.time_borders import time_borders_here
from data.layout import TimeSplit

# Files that are open at once; beyond, a compressor's third of a mebibyte for each and
# the usual limit of 1,024 files begin to tell.
MAX_SHARDS = 512
# Batches that are read while others are being compressed.
_AHEAD = 4


def ingest_here(job: Job) -> None:
    """Reads a log and writes its shards and manifest.

    Args:
        job: what to do; of at most ``MAX_SHARDS`` shards.

    Raises:
        DataError: the log breaks a rule of the data contract.
    """
    dataset, layout = job.dataset, job.log.layout
    borders = None
    if isinstance(dataset.split, TimeSplit):
        borders = time_borders_here(job.log.files, dataset, layout)
    reader = PieceReader(dataset, layout, job.shards)
    rows_read = 0
    with ExitStack() as stack:
        quarantine = stack.enter_context(Quarantine(job.output))
        shards: dict[ShardKey, OpenShard] = {
            (split, index): stack.enter_context(
                OpenShard(job.output, (split, index), job.shards)
            )
            for split in dataset.split_names
            for index in range(job.shards[split])
        }
        # Compression and checksums let go of the interpreter: they use another core.
        pool = stack.enter_context(ThreadPoolExecutor(1))
        pending: deque[Future[None]] = deque()
        for file in job.log.files:
            for batch in reader.read(file, borders):
                rows_read += batch.rows_read
                for _, bad in batch.bad:
                    quarantine.add(bad)
                pending.append(pool.submit(_write, shards, batch))
                if len(pending) > _AHEAD:
                    pending.popleft().result()
        for future in pending:
            future.result()
        written = [shard.close() for shard in shards.values()]
    write_outcome(job, written, quarantine.rules, rows_read)


def _write(shards: dict[ShardKey, OpenShard], batch: ReadBatch) -> None:
    """Appends the pieces of a batch to their shards."""
    for key, piece in batch.pieces:
        shards[key].write(piece)

"""The simulated log as files."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import pyarrow as pa

from data.errors import UsageError, suggest
from data.simulator.config import SimulatorConfig
from data.simulator.log import day_rows, simulate
from data.simulator.part_files import open_part
from data.simulator.tally import Tally, Totals

LogFormat = Literal["csv", "parquet", "tfrecord"]
# A part is a few ten megabytes: enough of them to read in parallel, few enough to list.
_PART_ROWS = 250_000
_ENDINGS: dict[LogFormat, str] = {
    "csv": "csv",
    "parquet": "parquet",
    "tfrecord": "tfrecord.gz",
}


@dataclass(frozen=True, kw_only=True)
class WrittenLog:
    """What was written.

    Attributes:
        files: names of the parts in the order of time.
        bytes: their size.
        totals: what the rows add up to.
    """

    files: tuple[str, ...]
    bytes: int
    totals: Totals


def write_log(
    config: SimulatorConfig,
    output: Path,
    file_format: LogFormat = "csv",
    progress: Callable[[int], None] | None = None,
) -> WrittenLog:
    """Simulates a log into a folder, which appears complete or not at all.

    Parts are named ``part-00000-of-00008.csv`` and so on; none holds rows of two days.
    Equal configurations give equal files (with the same releases of pyarrow and zlib).

    Args:
        config: what to simulate.
        output: local folder; absent or empty.
        file_format: csv, parquet or tfrecord. In CSV a history is joined by ``|``; in
            TFRecord (GZIP) numbers with decimals are float32, as in any tf.Example.
        progress: called with the number of rows of each batch when it is written.

    Returns:
        What was written.

    Raises:
        UsageError: the output is taken or cannot be made, or the format is unknown.
    """
    if file_format not in get_args(LogFormat):
        raise UsageError(
            f"format: must be one of {', '.join(get_args(LogFormat))}, got "
            f"'{file_format}'.{suggest(file_format, get_args(LogFormat))}"
        )
    scratch = _scratch_folder(output)
    try:
        tally = Tally(config)
        files = _write_parts(config, scratch, file_format, tally, progress)
        size = sum((scratch / file).stat().st_size for file in files)
        _move(scratch, output)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return WrittenLog(files=files, bytes=size, totals=tally.totals())


def _write_parts(
    config: SimulatorConfig,
    folder: Path,
    file_format: LogFormat,
    tally: Tally,
    progress: Callable[[int], None] | None,
) -> tuple[str, ...]:
    """Writes all parts and returns their names."""
    sizes = list(_part_rows(config))
    pieces = _cut(simulate(config), sizes)
    names = []
    for part, rows in enumerate(sizes):
        names.append(
            f"part-{part:05d}-of-{len(sizes):05d}.{_ENDINGS[file_format]}",
        )
        with open_part(folder, names[-1], file_format) as file:
            while rows:
                batch = next(pieces)
                file.write(batch)
                tally.add(batch)
                rows -= batch.num_rows
                if progress:
                    progress(batch.num_rows)
    return tuple(names)


def _part_rows(config: SimulatorConfig) -> Iterator[int]:
    """Rows of each part: the days, long ones in several parts of about equal size."""
    for rows in day_rows(config):
        parts = -(-rows // _PART_ROWS)
        for part in range(parts):
            yield (part + 1) * rows // parts - part * rows // parts


def _cut(
    batches: Iterator[pa.RecordBatch], sizes: list[int]
) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of which none reaches over the end of a part."""
    left = iter(sizes)
    room = next(left)
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            rows = min(room, batch.num_rows - start)
            yield batch.slice(start, rows)
            start, room = start + rows, room - rows
            if room == 0:
                room = next(left, 0)


def _scratch_folder(output: Path) -> Path:
    """A new hidden folder beside the output, once that is known to be free.

    Raises:
        UsageError: the output is taken, or its parent cannot be written to.
    """
    if output.exists() and not output.is_dir():
        raise UsageError(
            f"output {output}: must be a folder, is a file; choose another"
        )
    try:
        if output.is_dir() and any(output.iterdir()):
            raise UsageError(
                f"output {output}: must be empty or absent, holds files; choose another "
                "or empty it"
            )
        output = output.absolute()
        output.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{output.name}-", dir=output.parent))
    except OSError as error:
        raise UsageError(
            f"output {output}: cannot be written: {error.strerror}; choose another"
        ) from None


def _move(scratch: Path, output: Path) -> None:
    """Gives the finished folder its name, and the rights of any new folder.

    Raises:
        UsageError: something was put there in the meantime.
    """
    mask = os.umask(0)
    os.umask(mask)
    scratch.chmod(0o777 & ~mask)
    try:
        # On POSIX this replaces an empty folder, and only that.
        scratch.rename(output.absolute())
    except OSError as error:
        raise UsageError(
            f"output {output}: was taken while the log was written: {error.strerror}; "
            "choose another"
        ) from None

"""Reading one file of a log: format, renamed columns, side tables."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from data.columns import shard_columns
from data.dataset import Dataset
from data.errors import DataError
from data.layout import HashSplit, Layout, TimeSplit
from data.readers.batch import RawBatch
from data.readers.delimited import Dialect, read_delimited
from data.readers.files import LogFile
from data.readers.joins import SideTable, load_side_tables
from data.readers.jsonl import read_jsonl
from data.readers.parquet import read_parquet
from data.readers.tfrecord import read_tfrecord


def wanted_columns(dataset: Dataset) -> tuple[str, ...]:
    """Columns of the log that the declaration reads, each once.

    Args:
        dataset: the declaration.

    Returns:
        Names as the declaration uses them, in the order of the shards' columns.
    """
    label = dataset.keys.label
    names = [label.column, *([label.divided_by] if label.divided_by else [])]
    names += [
        column.name
        for column in shard_columns(dataset)
        if column.name != dataset.keys.label_name
    ]
    return tuple(dict.fromkeys([*names, *split_columns(dataset)]))


def split_columns(dataset: Dataset) -> tuple[str, ...]:
    """Columns by which rows are split or ties are broken."""
    if isinstance(dataset.split, HashSplit):
        return dataset.split.columns
    return dataset.split.tie_break if isinstance(dataset.split, TimeSplit) else ()


def read_log_file(
    file: LogFile, layout: Layout, wanted: Sequence[str]
) -> Iterator[RawBatch]:
    """Reads one file of a log.

    Args:
        file: the file.
        layout: how the log is written.
        wanted: columns to give, by the names that the declaration uses.

    Yields:
        Batches with exactly these columns in this order.

    Raises:
        DataError: the file or a side table is damaged or lacks a column.
    """
    sides = load_side_tables(layout, file.folder) if layout.joins else ()
    given: dict[str, SideTable] = {}
    for side in sides:
        for name in side.columns:
            if name in wanted:
                given[name] = side
    in_file = {used: written for written, used in layout.rename.items()}
    own = [name for name in wanted if name not in given and name not in layout.absent]
    own += [
        side.key for side in sides if side.key not in own and side in given.values()
    ]
    written = [in_file.get(name, name) for name in own]
    for batch in _read(file, layout, written):
        columns = dict(zip(own, batch.columns.columns, strict=True))
        for side in sides:
            names = [name for name, source in given.items() if source is side]
            if names:
                values = side.look_up(columns[side.key], names)
                columns.update(zip(names, values, strict=True))
        for name in layout.absent:
            columns[name] = pa.nulls(len(batch.places))
        yield RawBatch(
            file=batch.file,
            unit=batch.unit,
            columns=pa.RecordBatch.from_arrays(
                [columns[name] for name in wanted], list(wanted)
            ),
            places=batch.places,
            bad=batch.bad,
        )


def _read(file: LogFile, layout: Layout, wanted: Sequence[str]) -> Iterator[RawBatch]:
    """The file's own columns."""
    if file.format == "parquet":
        return read_parquet(file.path, wanted)
    if file.format == "jsonl":
        return read_jsonl(file.path, wanted, layout.encoding)
    if file.format == "tfrecord":
        return read_tfrecord(file.path, wanted)
    if file.format == "auto":
        raise DataError(f"{file.path}: format not known")
    return read_delimited(file.path, dialect_of(file, layout), wanted)


def dialect_of(file: LogFile, layout: Layout) -> Dialect:
    """How a file of delimited text is written.

    Args:
        file: the file.
        layout: how the log is written.

    Returns:
        The dialect.
    """
    return Dialect(
        delimiter=layout.delimiter or ("\t" if file.format == "tsv" else ","),
        encoding=layout.encoding,
        quoting=layout.quoting,
        typed_header=layout.typed_header,
        header=layout.header,
    )

"""One part of a log: a CSV, Parquet or TFRecord file that grows batch by batch."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from data.examples import encode
from data.records import frame_all
from data.shards import ShardWriter
from data.simulator.log import SCHEMA

# Rows that a reader of Parquet takes at a time; the batches of an hour are smaller.
_ROW_GROUP = 65_536
# Parts of a list in CSV.
LIST_SEPARATOR = "|"


class Part(Protocol):
    """An open file."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends rows of ``SCHEMA``."""


@contextlib.contextmanager
def open_part(folder: Path, name: str, file_format: str) -> Iterator[Part]:
    """Opens a part for writing and completes it at the end.

    Args:
        folder: where it goes.
        name: name of the file.
        file_format: csv, parquet or tfrecord.

    Yields:
        The open part.
    """
    if file_format == "csv":
        with (folder / name).open("wb") as stream:
            yield _CsvPart(stream)
    elif file_format == "parquet":
        with pyarrow.parquet.ParquetWriter(folder / name, SCHEMA) as writer:
            part = _ParquetPart(writer)
            yield part
            part.flush()
    else:
        with ShardWriter(str(folder), name) as shard:
            yield _TfrecordPart(shard)
            shard.close()
        with contextlib.suppress(OSError):
            (folder / "_writing").rmdir()


class _CsvPart:
    """CSV with a header; no value holds a comma or a quote, so none is quoted.

    Lines are joined here because pyarrow's writer quotes all text before release 11.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._stream.write((",".join(SCHEMA.names) + "\n").encode())

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends rows."""
        fields = [
            pc.binary_join(column, LIST_SEPARATOR)
            if pa.types.is_list(column.type)
            else column.cast(pa.string())
            for column in batch.columns
        ]
        lines = pc.binary_join_element_wise(*fields, ",")
        ended = pc.binary_join_element_wise(lines, "", "\n")
        # The texts of a new array lie one after the other.
        self._stream.write(ended.buffers()[2])


class _ParquetPart:
    """Parquet with row groups of a useful size."""

    def __init__(self, writer: "pyarrow.parquet.ParquetWriter") -> None:
        self._writer = writer
        self._waiting: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends rows; they reach the file when a row group is full."""
        self._waiting.append(batch)
        if sum(waiting.num_rows for waiting in self._waiting) >= _ROW_GROUP:
            self.flush()

    def flush(self) -> None:
        """Writes what waits."""
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, SCHEMA))
            self._waiting = []


class _TfrecordPart:
    """GZIP TFRecord of tf.Example."""

    def __init__(self, shard: ShardWriter) -> None:
        self._shard = shard

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends rows."""
        clicks = pc.sum(batch.column(SCHEMA.get_field_index("click"))).as_py()
        self._shard.write(frame_all(encode(batch)), batch.num_rows, clicks)

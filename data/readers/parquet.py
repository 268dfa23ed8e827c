"""Parquet files as batches of typed columns."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from data import paths
from data.errors import DataError
from data.readers.batch import RawBatch
from data.readers.header import check_columns

# Rows of a batch: enough for vectorised work, little memory even with wide vectors.
BATCH_ROWS = 16_384
# First bytes of a file whose footer is encrypted too.
_ENCRYPTED_MAGIC = b"PARE"


def read_parquet(file: str, wanted: Sequence[str] | None) -> Iterator[RawBatch]:
    """Reads a Parquet file.

    Args:
        file: its path.
        wanted: columns to keep; all if None.

    Yields:
        Batches of at most ``BATCH_ROWS`` rows; rows count from 0.

    Raises:
        DataError: the file is cut, damaged or encrypted, or lacks a wanted column.
    """
    with _opened(file) as parquet:
        names = parquet.schema_arrow.names
        check_columns(file, names, wanted or ())
        columns = list(names) if wanted is None else list(wanted)
        first = 0
        for batch in parquet.iter_batches(BATCH_ROWS, columns=columns):
            ordered = pa.RecordBatch.from_arrays(
                [
                    _plain(batch.column(batch.schema.get_field_index(n)))
                    for n in columns
                ],
                columns,
            )
            places = np.arange(first, first + len(batch), dtype=np.int64)
            first += len(batch)
            yield RawBatch(file=file, unit="row", columns=ordered, places=places)


def _plain(values: pa.Array) -> pa.Array:
    """Values that a writer stored as a dictionary, such as pandas' categories."""
    is_coded = pa.types.is_dictionary(values.type)
    return values.dictionary_decode() if is_coded else values


def parquet_names(file: str) -> list[str]:
    """Names of the columns of a Parquet file.

    Args:
        file: its path.

    Returns:
        The names in their order.

    Raises:
        DataError: the file is cut, damaged or encrypted.
    """
    with _opened(file) as parquet:
        return list(parquet.schema_arrow.names)


@contextmanager
def _opened(file: str) -> Iterator[pyarrow.parquet.ParquetFile]:
    """An open Parquet file; what Arrow cannot read in it is a fault of the data."""
    with paths.open_read(file) as stream:
        if stream.read(4) == _ENCRYPTED_MAGIC:
            raise DataError(f"{file}: encrypted Parquet; write it without encryption")
        stream.seek(0)
        try:
            yield pyarrow.parquet.ParquetFile(stream)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise DataError(f"{file}: cannot be read as Parquet: {reason}") from None

"""Parquet files as batches of typed columns."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from data import paths
from data.errors import DataError
from data.readers.batch import RawBatch
from data.readers.header import check_columns

# Rows of a batch: enough for vectorised work, little memory even with wide vectors.
BATCH_ROWS = 16_384


def read_parquet(file: str, wanted: Sequence[str] | None) -> Iterator[RawBatch]:
    """Reads a Parquet file.

    Args:
        file: its path.
        wanted: columns to keep; all if None.

    Yields:
        Batches of at most ``BATCH_ROWS`` rows; rows count from 0.

    Raises:
        DataError: the file is cut or damaged, or lacks a wanted column.
    """
    with paths.open_read(file) as stream:
        try:
            parquet = pyarrow.parquet.ParquetFile(stream)
            names = parquet.schema_arrow.names
            check_columns(file, names, wanted or ())
            columns = list(names) if wanted is None else list(wanted)
            first = 0
            for batch in parquet.iter_batches(BATCH_ROWS, columns=columns):
                ordered = pa.RecordBatch.from_arrays(
                    [batch.column(batch.schema.get_field_index(n)) for n in columns],
                    columns,
                )
                places = np.arange(first, first + len(batch), dtype=np.int64)
                first += len(batch)
                yield RawBatch(file=file, unit="row", columns=ordered, places=places)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"{file}: cannot be read as Parquet: {reason}") from None

"""TFRecord files of tf.Example as batches of list columns."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from data.errors import DataError
from data.readers.batch import BadRow, RawBatch
from data.readers.example_parser import ExampleParser, names_in
from data.records import RecordError, read_records
from data.shards import payload_chunks

BATCH_ROWS = 8_192


def read_tfrecord(file: str, wanted: Sequence[str]) -> Iterator[RawBatch]:
    """Reads a TFRecord file, plain, GZIP or ZLIB.

    Args:
        file: its path.
        wanted: features to keep; one that is absent or unset is null or empty.

    Yields:
        Batches of list columns; records count from 0. Damaged records are bad rows, and
        so are those with floats in a column of bytes or bytes in one of floats, by what
        the file holds first; a damage after which no record can be found makes the rest
        of the file one.

    Raises:
        DataError: the compressed stream is cut or damaged.
    """
    parser = ExampleParser(wanted)
    records: list[tuple[int, int, bytes]] = []
    bad: list[BadRow] = []
    for number, offset, record in _records(file):
        if isinstance(record, RecordError):
            rest = "" if record.resumable else "; the rest of the file cannot be read"
            bad.append(_bad(file, number, offset, record.reason + rest))
        elif not record:
            bad.append(_bad(file, number, offset, "a record of no bytes"))
        else:
            records.append((number, offset, record))
        if len(records) + len(bad) >= BATCH_ROWS:
            yield _batch(file, records, bad, parser)
            records, bad = [], []
    if records or bad:
        yield _batch(file, records, bad, parser)


def feature_names(file: str) -> list[str]:
    """Lists the features of a file, as its first batch of records has them.

    Args:
        file: its path.

    Returns:
        Their names, sorted; empty without records.

    Raises:
        DataError: the compressed stream is cut or damaged.
    """
    first = itertools.islice(_records(file), BATCH_ROWS)
    return names_in(one for _, _, one in first if isinstance(one, bytes))


def _records(file: str) -> Iterator[tuple[int, int, bytes | RecordError]]:
    """Records, and as the last of them a damage that ends the file."""
    rows = 0
    try:
        for item in read_records(payload_chunks(file), file):
            rows = item[0] + 1
            yield item
    except RecordError as error:
        yield error.record, error.offset, error
    except DataError as error:
        raise DataError(f"{error}; {rows} rows readable, none used") from None


def _batch(
    file: str,
    records: Sequence[tuple[int, int, bytes]],
    bad: Sequence[BadRow],
    parser: ExampleParser,
) -> RawBatch:
    """Records as columns."""
    arrays, misfits = parser.parse([record for _, _, record in records])
    places = np.asarray([number for number, _, _ in records], np.int64)
    more = [
        _bad(file, *records[index][:2], misfit.reason, misfit.column)
        for index, misfit in misfits.items()
    ]
    return RawBatch(
        file=file,
        unit="record",
        columns=pa.RecordBatch.from_arrays(arrays, list(parser.wanted)),
        places=np.delete(places, list(misfits)),
        bad=sorted((*bad, *more), key=lambda row: row.number),
    )


def _bad(file: str, number: int, offset: int, reason: str, column: str = "") -> BadRow:
    """A bad record."""
    return BadRow(
        file=file,
        number=number,
        place=f"record {number} at offset {offset}",
        column=column,
        reason=reason,
    )

"""TFRecord files of tf.Example as batches of list columns."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from data.errors import DataError
from data.readers.batch import BadRow, RawBatch
from data.readers.objects import to_array
from data.records import RecordError, read_records
from data.shards import payload_chunks

BATCH_ROWS = 8_192


def read_tfrecord(file: str, wanted: Sequence[str]) -> Iterator[RawBatch]:
    """Reads a TFRecord file, plain, GZIP or ZLIB.

    Args:
        file: its path.
        wanted: features to keep; one that is absent or unset is null.

    Yields:
        Batches of list columns; records count from 0. Damaged records are bad rows; a
        damage after which no record can be found makes the rest of the file one.

    Raises:
        DataError: the compressed stream is cut or damaged.
    """
    from tensorflow.core.example import example_pb2

    examples: list[Any] = []
    places: list[int] = []
    bad: list[BadRow] = []
    for number, offset, record in _records(file):
        fault: str | None = None
        if isinstance(record, RecordError):
            fault = record.reason
            if not record.resumable:
                fault += "; the rest of the file cannot be read"
        elif not record:
            fault = "a record of no bytes"
        else:
            try:
                examples.append(example_pb2.Example.FromString(record).features.feature)
                places.append(number)
            except Exception as error:  # protobuf's DecodeError has several homes
                if type(error).__name__ != "DecodeError":
                    raise
                fault = "not a tf.Example"
        if fault:
            place = f"record {number} at offset {offset}"
            bad.append(
                BadRow(file=file, number=number, place=place, column="", reason=fault)
            )
        if len(examples) + len(bad) >= BATCH_ROWS:
            yield _batch(file, examples, places, bad, wanted)
            examples, places, bad = [], [], []
    if examples or bad:
        yield _batch(file, examples, places, bad, wanted)


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
    examples: Sequence[Any],
    places: Sequence[int],
    bad: Sequence[BadRow],
    wanted: Sequence[str],
) -> RawBatch:
    """Parsed examples as columns."""
    arrays = [to_array([_values(row, name) for row in examples]) for name in wanted]
    return RawBatch(
        file=file,
        unit="record",
        columns=pa.RecordBatch.from_arrays(arrays, list(wanted)),
        places=np.asarray(places, np.int64),
        bad=bad,
    )


def _values(features: Any, name: str) -> list[Any] | None:
    """Value list of a feature, None where it is absent or unset."""
    if name not in features:
        return None
    feature = features[name]
    kind = feature.WhichOneof("kind")
    return None if kind is None else list(getattr(feature, kind).value)

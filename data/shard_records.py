"""The records of a shard, for readers that want all of them or an error."""

from collections.abc import Iterator

from data.records import RecordError, read_records
from data.shards import payload_chunks


def shard_records(path: str) -> Iterator[bytes]:
    """Reads a TFRecord file, plain, GZIP or ZLIB.

    Args:
        path: the file.

    Yields:
        The payload of each record.

    Raises:
        DataError: the file is cut or a record is damaged; the records before it were
            yielded.
    """
    for _, _, record in read_records(payload_chunks(path), path):
        if isinstance(record, RecordError):
            raise record
        yield record

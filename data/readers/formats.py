"""Telling the format of a file by its name or its first bytes."""

import zlib

from data import paths
from data.layout import Format
from data.records import GZIP_MAGIC, starts_plain

_PARQUET_MAGIC = b"PAR1"
_HEAD_BYTES = 4096
_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".tfrecord": "tfrecord",
    ".tfrecords": "tfrecord",
}


def detect_format(path: str) -> Format | None:
    """The format of a file.

    Magic bytes go before the name: a Parquet file named ``.csv`` is Parquet.

    Args:
        path: the file.

    Returns:
        The format, or None if nothing tells.
    """
    with paths.open_read(path) as file:
        head = file.read(_HEAD_BYTES)
    if head.startswith(_PARQUET_MAGIC):
        return "parquet"
    if head.startswith(GZIP_MAGIC):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head)
        except zlib.error:
            head = b""
    if starts_plain(head):
        return "tfrecord"
    name = path.lower().removesuffix(".gz").removesuffix(".gzip")
    return next(
        (kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), None
    )

"""The rows that are replayed: raw tf.Examples out of shards."""

import itertools
from collections.abc import Iterator, Sequence

from data import paths
from data.errors import DataError
from data.packed import read_header
from data.readers.example_parser import names_in
from data.shard_records import shard_records


def shard_files(location: str) -> list[str]:
    """Lists the shards of a place.

    Args:
        location: a file or a folder, local or remote.

    Returns:
        The file, or all files below the folder, sorted, without hidden ones.
    """
    base = location.rstrip("/")
    if not paths.is_dir(base):
        return [base]
    return [
        f"{base}/{file}"
        for file in paths.walk(base)
        if not any(part[0] in "._" for part in file.split("/"))
    ]


def first_rows(files: Sequence[str], count: int) -> list[bytes]:
    """Takes rows from all shards in turns: the first of each, the second of each, ...

    Args:
        files: the shards.
        count: rows to take; fewer are returned where there are no more.

    Returns:
        Serialized tf.Examples, the same each time.

    Raises:
        DataError: there are no rows, or a record is damaged or no row.
    """
    turns = itertools.zip_longest(*(_rows(file) for file in files))
    found = (row for turn in turns for row in turn if row is not None)
    rows = list(itertools.islice(found, count))
    if not rows:
        raise DataError("no rows in the shards; name those of the evaluated split")
    return rows


def _rows(file: str) -> Iterator[bytes]:
    """Rows of a shard."""
    for number, record in enumerate(shard_records(file)):
        if read_header(record) is not None:
            raise DataError(
                f"{file}: packed rows; name raw ones, such as those of "
                "ClickLogExampleGen or ctr ingest"
            )
        if not names_in([record]):
            raise DataError(f"{file}: record {number} (from 0) is no tf.Example")
        yield record

"""Columns of a log that the declaration does not know: news, worth a word."""

import itertools
import json
from collections.abc import Iterable

from data.dataset import Dataset
from data.layout import Layout
from data.readers.blocks import text_blocks
from data.readers.delimited import read_delimited
from data.readers.files import Log, LogFile
from data.readers.log import dialect_of, wanted_columns
from data.readers.parquet import parquet_names
from data.readers.tfrecord import feature_names

# Objects of JSON Lines that are looked at for their keys.
_OBJECTS = 1_000


def undeclared(log: Log, dataset: Dataset) -> tuple[str, ...]:
    """Finds the columns of the first file that nothing reads.

    A column that appears in a log may be one that was renamed, or a signal worth using.

    Args:
        log: the files.
        dataset: the declaration.

    Returns:
        Their names as written in the file, sorted.
    """
    layout = log.layout
    if layout.header is not None:
        return ()  # The declaration itself names the columns.
    known = {*layout.rename, *wanted_columns(dataset), *dataset.ignored}
    known |= {join.key for join in layout.joins}
    return tuple(sorted(set(_names(log.files[0], layout)) - known))


def _names(file: LogFile, layout: Layout) -> Iterable[str]:
    """Names of a file's columns."""
    if file.format == "parquet":
        return parquet_names(file.path)
    if file.format == "tfrecord":
        return feature_names(file.path)
    if file.format == "jsonl":
        block = next(iter(text_blocks(file.path, layout.encoding)), b"")
        return _keys(itertools.islice(block.split(b"\n"), _OBJECTS))
    first = next(read_delimited(file.path, dialect_of(file, layout), None), None)
    return [] if first is None else list(first.columns.schema.names)


def _keys(lines: Iterable[bytes]) -> set[str]:
    """Keys of the JSON objects among some lines."""
    found: set[str] = set()
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found |= row.keys()
    return found

"""JSON Lines: one object a line."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from data.readers.batch import BadRow, RawBatch
from data.readers.blocks import text_blocks
from data.readers.objects import to_array


def read_jsonl(file: str, wanted: Sequence[str], encoding: str) -> Iterator[RawBatch]:
    """Reads a file of JSON objects, plain or GZIP.

    Args:
        file: its path.
        wanted: keys to keep; one that an object lacks is null.
        encoding: of the text.

    Yields:
        One batch a block; lines that are no JSON object are bad rows.
    """
    pending = b""
    line = 1
    for block in text_blocks(file, encoding):
        *lines, pending = (pending + block).split(b"\n")
        yield from _batch(file, lines, line, wanted)
        line += len(lines)
    yield from _batch(file, [pending], line, wanted)


def _batch(
    file: str, lines: Sequence[bytes], first: int, wanted: Sequence[str]
) -> Iterator[RawBatch]:
    """The rows of some lines, if there are any."""
    objects: list[dict[str, Any]] = []
    places: list[int] = []
    bad: list[BadRow] = []
    for number, text in enumerate(lines, first):
        if not text.strip():
            continue
        reason, column = "", ""
        try:
            row = json.loads(text.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            reason = "not a JSON object"
        else:
            reason, column = _fault(row, wanted)
        if reason:
            bad.append(
                BadRow(
                    file=file,
                    number=number,
                    place=f"line {number}",
                    column=column,
                    reason=reason,
                )
            )
        else:
            objects.append(row)
            places.append(number)
    if objects or bad:
        arrays = [to_array([row.get(name) for row in objects]) for name in wanted]
        yield RawBatch(
            file=file,
            unit="line",
            columns=pa.RecordBatch.from_arrays(arrays, list(wanted)),
            places=np.asarray(places, np.int64),
            bad=bad,
        )


def _fault(row: Any, wanted: Sequence[str]) -> tuple[str, str]:
    """What is wrong with a parsed line and in which column; empty if nothing."""
    if not isinstance(row, dict):
        return "not a JSON object", ""
    for name in wanted:
        value = row.get(name)
        items = value if isinstance(value, list) else (value,)
        if any(isinstance(item, (dict, list)) for item in items):
            return "an object or nested list; expected a value or a list", name
    return "", ""

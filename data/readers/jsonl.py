"""JSON Lines: one object a line."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from data.readers.batch import BadRow, RawBatch
from data.readers.blocks import text_blocks
from data.readers.delimited import check_line_length
from data.readers.objects import clash, kinds_of, to_array

_SHOWN_KEY = 40


@dataclass(frozen=True)
class _Repeated:
    """An object that has a key twice, so that nobody knows which value was meant."""

    key: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Repeated:
    """A JSON object; the standard parser would keep the last of several values."""
    row = dict(pairs)
    if len(row) == len(pairs):
        return row
    keys = [key for key, _ in pairs]
    return _Repeated(next(key for key in keys if keys.count(key) > 1))


_DECODER = json.JSONDecoder(object_pairs_hook=_object)
_NESTED = frozenset({dict, list, _Repeated})


def read_jsonl(file: str, wanted: Sequence[str], encoding: str) -> Iterator[RawBatch]:
    """Reads a file of JSON objects, plain or GZIP.

    Args:
        file: its path.
        wanted: keys to keep; one that an object lacks is null.
        encoding: of the text.

    Yields:
        One batch a block. Lines that are no JSON object are bad rows, and so are those
        with a key twice or a value that the earlier values of its column rule out.

    Raises:
        DataError: the file is damaged, of another encoding, or has no line ends.
    """
    pending = b""
    line = 1
    kinds: dict[str, frozenset[str]] = dict.fromkeys(wanted, frozenset())
    for block in text_blocks(file, encoding):
        *lines, pending = (pending + block).split(b"\n")
        yield from _batch(file, lines, line, wanted, kinds)
        line += len(lines)
        check_line_length(file, line, len(pending))
    yield from _batch(file, [pending], line, wanted, kinds)


def _batch(
    file: str,
    lines: Sequence[bytes],
    first: int,
    wanted: Sequence[str],
    kinds: dict[str, frozenset[str]],
) -> Iterator[RawBatch]:
    """The rows of some lines, if there are any; ``kinds`` learns what they hold."""
    objects: list[dict[str, Any]] = []
    places: list[int] = []
    bad: list[BadRow] = []
    for number, text in enumerate(lines, first):
        if not text.strip():
            continue
        reason, column = "", ""
        try:
            row = _DECODER.decode(text.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            reason = "not a JSON object"
        else:
            reason, column = _fault(row, kinds)
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
        arrays = [to_array([_value(row, name) for row in objects]) for name in wanted]
        yield RawBatch(
            file=file,
            unit="line",
            columns=pa.RecordBatch.from_arrays(arrays, list(wanted)),
            places=np.asarray(places, np.int64),
            bad=bad,
        )


def _fault(row: Any, kinds: dict[str, frozenset[str]]) -> tuple[str, str]:
    """What is wrong with a parsed line and in which column; empty if nothing."""
    if isinstance(row, _Repeated):
        return f"duplicate key, got '{row.key[:_SHOWN_KEY]}'", ""
    if not isinstance(row, dict):
        return "not a JSON object", ""
    learnt: dict[str, frozenset[str]] = {}
    for name, column in kinds.items():
        value = row.get(name)
        items = value if isinstance(value, list) else (value,)
        if not _NESTED.isdisjoint(map(type, items)):
            return "an object or nested list; expected a value or a list", name
        found = kinds_of(value)
        if not found <= column:
            reason = clash(found, column)
            if reason:
                return reason, name
            learnt[name] = column | found
    # A bad row teaches nothing about its other columns.
    kinds.update(learnt)
    return "", ""


def _value(row: dict[str, Any], name: str) -> Any:
    """A value of an object; an empty text is an absent one, as in any format."""
    value = row.get(name)
    return None if value == "" else value

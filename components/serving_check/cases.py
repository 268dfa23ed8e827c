"""Requests that a model server meets sooner or later: incomplete, odd, or hostile.

A value that the log may hold must be answered. One that ingest would put aside as a bad
row, or that is no tf.Example at all, may also be refused. Nothing may give a number that
is none, or end the process.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from components.serving_check.columns import Kind, RequestColumn

MANY = 10_000
# As text that no log has: known ids are shorter, and numbers stay numbers.
_UNSEEN = {True: b"98765432109876", False: b"a value that no row has"}
_TEXTS = {
    "NUL bytes": b"a\0b\0",
    "invalid UTF-8": b"\xff\xfe\xfd",
    "1 MiB of text": b"x" * 2**20,
}
_INTEGERS = {"negative": -1, "lowest": -(2**63), "highest": 2**63 - 1}
_FLOATS = {"NaN": math.nan, "infinity": math.inf, "-infinity": -math.inf}
_OTHER_KIND: dict[Kind, tuple[Kind, list[Any]]] = {
    "bytes": ("int64", [7]),
    "int64": ("bytes", [b"seven"]),
    "float": ("bytes", [b"seven"]),
}
_MANY: dict[Kind, Any] = {"bytes": b"x", "int64": 1, "float": 1.0}


@dataclass(frozen=True)
class Case:
    """One request.

    Attributes:
        column: the column that is odd; None for the request as a whole.
        name: what is odd.
        example: the serialized tf.Example, or what is sent in its place.
        must_answer: whether a refusal is a fault, too.
        as_tensors: whether a signature that takes columns can be sent it.
    """

    column: str | None
    name: str
    example: bytes
    must_answer: bool
    as_tensors: bool = True


def cases(columns: list[RequestColumn], plain: bytes) -> Iterator[Case]:
    """Makes all requests.

    Args:
        columns: what a request holds.
        plain: an ordinary row, of which each request changes one thing.

    Yields:
        The requests.
    """
    yield Case(None, "no column", tf.train.Example().SerializeToString(), False)
    for name, sent in {
        "no bytes": b"",
        "no tf.Example": b"this is no tf.Example",
        "cut short": plain[: len(plain) // 2],
        "random bytes": bytes(range(255, 127, -1)),
    }.items():
        yield Case(None, name, sent, must_answer=False, as_tensors=False)
    unknown = _changed(plain, "a_column_that_no_model_knows", "bytes", [b"x"])
    yield Case(None, "unknown column", unknown, must_answer=True, as_tensors=False)
    for column in columns:
        yield from _of_column(column, plain)


def _of_column(column: RequestColumn, plain: bytes) -> Iterator[Case]:
    """Requests in which one column is odd."""
    kind = column.kind

    def case(name: str, values: list[Any] | None, must: bool, **more: bool) -> Case:
        example = _changed(plain, column.name, kind, values)
        return Case(column.name, name, example, must, **more)

    is_list = column.length is None
    yield case("missing", None, column.optional)
    # Ingest leaves an absent value out; only a list may be there and empty.
    yield case("no value", [], is_list, as_tensors=is_list)
    other = _changed(plain, column.name, *_OTHER_KIND[kind])
    yield Case(column.name, "wrong type", other, False, as_tensors=False)
    many = [_MANY[kind]] * MANY
    yield case(f"{MANY:,} values", many, is_list, as_tensors=is_list)
    size = column.length or 1
    if size > 1:
        yield case("one value too few", [1.0] * (size - 1), False, as_tensors=False)
    if kind == "bytes":
        yield case("empty text", [b""], True)
        yield case("unseen", [_UNSEEN[column.numeric]], True)
        for name, text in _TEXTS.items():
            yield case(name, [text], not column.numeric)
    elif kind == "int64":
        for name, integer in _INTEGERS.items():
            yield case(name, [integer] * size, True)
    else:
        for name, number in _FLOATS.items():
            yield case(name, [number] * size, False)


def _changed(plain: bytes, column: str, kind: Kind, values: list[Any] | None) -> bytes:
    """A row with other values in one column, or without it when None."""
    example = tf.train.Example.FromString(plain)
    features = example.features.feature
    if column in features:
        del features[column]
    if values is not None:
        held = getattr(features[column], f"{kind}_list")
        held.SetInParent()
        held.value.extend(values)
    serialized: bytes = example.SerializeToString()
    return serialized

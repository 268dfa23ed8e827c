"""What the columns of a request hold, told by the model and by rows of the log."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import tensorflow as tf

from components.serving_check.signature import Signature, by_tensor
from data.tensor_names import tensor_name

Kind = Literal["bytes", "int64", "float"]
_KINDS: dict[tf.DType, Kind] = {
    tf.string: "bytes",
    tf.int64: "int64",
    tf.float32: "float",
}


@dataclass(frozen=True)
class RequestColumn:
    """One column of a request.

    Attributes:
        name: key of the tf.Example feature.
        kind: of its value list.
        length: 0 for one value, n for a vector, None for a list.
        optional: whether some row lacks it, so that a request may, too.
        numeric: whether its values are numbers, also where they are written as text.
    """

    name: str
    kind: Kind
    length: int | None
    optional: bool
    numeric: bool


def request_columns(
    signatures: Sequence[Signature], rows: Sequence[bytes]
) -> list[RequestColumn]:
    """Finds the columns.

    Args:
        signatures: of the model. One that takes columns knows their types; without one
            every feature of the rows counts, those that the model ignores included.
        rows: serialized tf.Examples of the log.

    Returns:
        The columns by name.
    """
    features = [tf.train.Example.FromString(row).features.feature for row in rows]
    for signature in signatures:
        if not signature.takes_examples:
            held = {key: key for row in features for key in row}
            keys = {tensor_name(key): key for key in held} | held
            return [
                _column(
                    keys.get(name, name), _KINDS[spec.dtype], features, _length(spec)
                )
                for name, spec in sorted(signature.inputs.items())
            ]
    kinds: dict[str, Kind] = {}
    for row in features:
        for name, feature in row.items():
            kind = feature.WhichOneof("kind")
            if kind:
                kinds[name] = kind.removesuffix("_list")
    return [
        _column(name, kind, features, _length_in(name, features))
        for name, kind in sorted(kinds.items())
    ]


def absent_columns(names: Iterable[str], rows: Sequence[bytes]) -> list[str]:
    """Columns that have no value in any row.

    Args:
        names: of the columns, as the inputs of a signature have them.
        rows: serialized tf.Examples.

    Returns:
        Their names, sorted.
    """
    features = [by_tensor(row) for row in rows]
    return [
        name
        for name in sorted(names)
        if not any(_values(row, name) for row in features)
    ]


def _column(
    name: str, kind: Kind, features: Sequence[Any], length: int | None
) -> RequestColumn:
    """A column with what the rows say of its values."""
    values = [_values(row, name) for row in features]
    return RequestColumn(
        name=name,
        kind=kind,
        length=length,
        optional=not all(values),
        numeric=kind != "bytes"
        or all(_is_number(one) for row in values for one in row),
    )


def _values(row: Any, name: str) -> list[Any]:
    """Values of a feature of any kind."""
    kind = row[name].WhichOneof("kind") if name in row else None
    return list(getattr(row[name], kind).value) if kind else []


def _is_number(text: bytes) -> bool:
    """True for a number in text, and for the empty text, which is none."""
    try:
        float(text or b"0")
    except ValueError:
        return False
    return True


def _length(spec: tf.TensorSpec) -> int | None:
    """Length by the shape of an input, [batch] or [batch, n]."""
    return 0 if spec.shape.rank == 1 else spec.shape[1]


def _length_in(name: str, features: Sequence[Any]) -> int | None:
    """Length by the rows: a vector has the same number of values wherever it has any."""
    lengths = {len(_values(row, name)) for row in features} - {0}
    if lengths <= {1}:
        return 0
    return lengths.pop() if len(lengths) == 1 else None

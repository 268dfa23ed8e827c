"""One signature of a loaded SavedModel, fed with rows as a client would.

Imports TensorFlow and numpy, and nothing that trains: it runs in the process of a model server, so to say.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from data.tensor_names import tensor_name

# The output that the models of this project name so, looked for among several.
PREDICTION = "prediction"
# What stands for an absent value where a tensor has no place for none: the empty text,
# a number that is none, and an id outside every range. A vector's are zeros.
ABSENT = {tf.string: b"", tf.float32: float("nan"), tf.int64: -1}
_KINDS = {tf.string: "bytes_list", tf.float32: "float_list", tf.int64: "int64_list"}


class Signature:
    """A signature that takes serialized tf.Examples, or a tensor for each column."""

    def __init__(self, name: str, function: Any) -> None:
        """Looks at the inputs.

        Args:
            name: of the signature.
            function: as ``tf.saved_model.load`` gives it.
        """
        self.name = name
        self._function = function
        _, self.inputs = function.structured_input_signature

    @property
    def takes_examples(self) -> bool:
        """True if its one input is a batch of serialized tf.Examples."""
        specs = list(self.inputs.values())
        return (
            len(specs) == 1 and specs[0].dtype == tf.string and specs[0].shape.rank == 1
        )

    @property
    def output(self) -> str | None:
        """Name of the output with the prediction, None if there is none."""
        names = list(self._function.structured_outputs)
        if PREDICTION in names:
            return PREDICTION
        return names[0] if len(names) == 1 else None

    def feed(self, examples: Sequence[bytes]) -> dict[str, tf.Tensor]:
        """Inputs for rows.

        Args:
            examples: serialized tf.Examples, readable ones where the signature takes
                columns.

        Returns:
            Tensor by input name.
        """
        if self.takes_examples:
            return {name: tf.constant(list(examples)) for name in self.inputs}
        rows = [by_tensor(one) for one in examples]
        return {
            name: _column([_values(row, name, spec.dtype) for row in rows], spec)
            for name, spec in self.inputs.items()
        }

    def call(self, feed: dict[str, tf.Tensor]) -> NDArray[Any]:
        """Predictions as the signature returns them, [rows] or [rows, 1] if it is right.

        Args:
            feed: tensor by input name.
        """
        return np.asarray(self._function(**feed)[self.output])

    def predict(self, examples: Sequence[bytes]) -> NDArray[Any]:
        """Predictions of rows; see ``feed`` and ``call``."""
        return self.call(self.feed(examples))


def by_tensor(example: bytes) -> dict[str, Any]:
    """Features of a row by the inputs that take them.

    Args:
        example: serialized tf.Example, a readable one.

    Returns:
        ``tf.train.Feature`` by ``tensor_name`` of its key; a key of that very name goes
        before one that is changed to it.
    """
    features = dict(tf.train.Example.FromString(example).features.feature)
    return {tensor_name(key): one for key, one in features.items()} | features


def fault_of(predictions: NDArray[Any], rows: int) -> str | None:
    """What is wrong with predictions, or None.

    Args:
        predictions: as a signature returned them.
        rows: number of rows that were sent.
    """
    if predictions.shape not in {(rows,), (rows, 1)}:
        return f"shape {list(predictions.shape)} for {rows} rows"
    if not np.isfinite(predictions).all():
        return "not finite"
    if (predictions < 0).any() or (predictions > 1).any():
        return "outside [0, 1]"
    return None


def _values(row: Any, name: str, dtype: tf.DType) -> list[Any]:
    """Values of a feature, none where it is absent or of another kind."""
    return list(getattr(row[name], _KINDS[dtype]).value) if name in row else []


def _column(values: list[list[Any]], spec: tf.TensorSpec) -> tf.Tensor:
    """One tensor of a column: [rows], or [rows, n] padded behind."""
    absent = ABSENT[spec.dtype]
    if spec.shape.rank == 1:
        return tf.constant([one[0] if one else absent for one in values], spec.dtype)
    width = spec.shape[1] or max(map(len, values))
    fill = 0.0 if spec.dtype == tf.float32 else absent
    rows = [one[:width] + [fill] * (width - len(one)) for one in values]
    return tf.reshape(tf.constant(rows, spec.dtype), [len(rows), width])

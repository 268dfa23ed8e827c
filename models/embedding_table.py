"""The layer that holds a table of embeddings."""

from typing import Any

import keras
import tensorflow as tf

from models.hashing import hashed_rows
from models.static_shapes import needs_static_shapes


@keras.saving.register_keras_serializable(package="ctr")
class EmbeddingTable(keras.layers.Layer):
    """A table of vectors read by id, with an L2 penalty on the vectors it gives out.

    A list of ids gives the mean of its vectors. Padding is left out before the table is
    read, so that neither reading nor the gradient pays for it.

    In training a call adds ``l2 * sum_b ||vector of example b||^2 / B`` to the losses
    of the model: a row is penalised as often as the batch holds it, so that the penalty
    is a mean over examples like the data loss, its strength does not depend on the
    batch size, and rows that the batch does not touch cost nothing. For a list of ids
    the penalty of an example is the mean over its ids that are not padding.

    Shapes: B rows of the batch, L length of an id list, D width, P parts, k hashes.

    Args:
        size: number of rows; row 0 is "absent" or padding.
        dim: width D.
        l2: strength of the penalty.
        initial_scale: standard deviation of the initial values, 0 for zeros.
        hashes: k rows that an id reads; its vector is their sum. With 1 an id is a row
            number, with more it is a fingerprint.
        partitions: P variables that hold the rows, for parameter servers: row r lies in
            part r % P at r // P, so that the frequent ids, which have the first rows
            of a vocabulary, are spread over all parts.
    """

    def __init__(
        self,
        size: int,
        dim: int,
        l2: float = 0.0,
        initial_scale: float = 0.01,
        hashes: int = 1,
        partitions: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.size, self.dim, self.l2 = size, dim, l2
        self.initial_scale = initial_scale
        self.hashes, self.partitions = hashes, partitions

    def build(self, _: Any) -> None:
        """Makes the parts of the table."""
        rows = -(-self.size // self.partitions)  # rounded up
        names = [f"table_{part}" for part in range(self.partitions)]
        self.parts = [
            self.add_weight(
                name=name,
                shape=(rows, self.dim),
                # One each: a Keras initializer gives equal values at every call.
                initializer=(
                    keras.initializers.RandomNormal(stddev=self.initial_scale)
                    if self.initial_scale
                    else "zeros"
                ),
            )
            for name in (names if self.partitions > 1 else ["table"])
        ]

    def call(self, ids: Any, training: bool | None = None) -> Any:
        """Returns a vector for each example.

        Args:
            ids: int64 [B], or [B, L] padded with 0.
            training: whether to add the penalty.

        Returns:
            [B, D] in the layer's compute type; for a list the mean over its ids, zeros
            for an empty one.
        """
        if ids.shape.rank == 1:
            vectors = self._vectors(ids)
            squares = _squares(vectors)
        elif needs_static_shapes():
            rows = self._vectors(ids)  # [B, L, D]
            present = tf.cast(tf.not_equal(ids, 0), rows.dtype)[..., tf.newaxis]
            count = tf.reduce_sum(present, axis=1)  # [B, 1]

            def mean(values: Any) -> Any:
                return tf.math.divide_no_nan(
                    tf.reduce_sum(values * present, axis=1), count
                )

            vectors, squares = mean(rows), mean(_squares(rows))
        else:
            place = tf.where(tf.not_equal(ids, 0))  # [n, 2]
            rows = self._vectors(tf.gather_nd(ids, place))  # [n, D]
            vectors, squares = (
                tf.math.unsorted_segment_mean(values, place[:, 0], tf.shape(ids)[0])
                for values in (rows, _squares(rows))
            )
        if training and self.l2:
            count = tf.cast(tf.maximum(tf.shape(ids)[0], 1), squares.dtype)
            self.add_loss(self.l2 * tf.reduce_sum(squares) / count)
        return tf.cast(vectors, self.compute_dtype)

    def _vectors(self, ids: Any) -> Any:
        """The row of each id, or the sum of its k rows: [...] -> [..., D]."""
        if self.hashes == 1:
            return self._rows(ids)
        rows = self._rows(hashed_rows(ids, self.size - 1, self.hashes))  # [..., k, D]
        return tf.reduce_sum(rows, axis=-2)

    def _rows(self, numbers: Any) -> Any:
        """The rows of these numbers: [...] -> [..., D]."""
        # Not keras.ops.take: it reads the whole variable first, which after a row
        # update copies the table; the gather on the variable reads only the rows.
        tables = [part.value for part in self.parts]
        if self.partitions == 1:
            return tf.gather(tables[0], numbers)
        # TensorFlow 2's own form splits rows by ranges and cannot split them by modulo.
        return tf.compat.v1.nn.embedding_lookup(tables, numbers, "mod")

    def compute_output_shape(self, shape: tuple[int | None, ...]) -> Any:
        """Shape of the vectors: batch and D."""
        return (shape[0], self.dim)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the same layer again."""
        return {
            **super().get_config(),
            "size": self.size,
            "dim": self.dim,
            "l2": self.l2,
            "initial_scale": self.initial_scale,
            "hashes": self.hashes,
            "partitions": self.partitions,
        }


def _squares(rows: Any) -> Any:
    """Squared length of each row: [..., D] -> [..., 1]."""
    return tf.reduce_sum(tf.square(rows), axis=-1, keepdims=True)

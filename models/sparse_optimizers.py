"""Adam and Adagrad that update only the embedding rows of the batch.

Keras' own Adam and Adagrad turn a row gradient (``tf.IndexedSlices``) into an update of
the whole table: moments of every row decay, and every row is written, so that a step
costs as much as the tables are large. The optimizers here cost as much as the batch
touches. Dense gradients get the update of the base class' formula.

What differs from the dense optimizers: the moments of a row stay as they are while no
batch touches it ("lazy"), and its weights do not move by left-over momentum. Adagrad
without momentum is unaffected: a row without gradient does not change in either form.
"""

from typing import Any

import keras
import tensorflow as tf


def unique_rows(gradient: tf.IndexedSlices) -> tf.IndexedSlices:
    """Sums the slices of equal index.

    Args:
        gradient: row gradient; values [n, ...], indices [n], an index may repeat.

    Returns:
        The same gradient with each index once, in order of first occurrence.
    """
    indices, position = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(
        gradient.values, position, tf.shape(indices)[0]
    )
    return tf.IndexedSlices(values, indices, gradient.dense_shape)


class _RowSparse:
    """What both optimizers share: dispatch on the kind of gradient.

    Args:
        unique: the caller promises that no index of a row gradient repeats, which
            saves looking for repetitions. Only true for a single replica: gradients
            of several are concatenated.
        **kwargs: arguments of the Keras optimizer.
    """

    def __init__(self, *args: Any, unique: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.unique = unique

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable, called by Keras for each.

        Args:
            gradient: a dense tensor or ``tf.IndexedSlices``.
            variable: the variable, of the current replica.
            learning_rate: scalar.
        """
        if not isinstance(gradient, tf.IndexedSlices):
            super().update_step(  # type: ignore[misc]
                gradient, variable, learning_rate
            )
            return
        self.update_rows(
            gradient if self.unique else unique_rows(gradient),
            _tf_variable(variable),
            tf.cast(learning_rate, variable.dtype),
        )

    def update_rows(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates the rows of a gradient without repeated indices."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the same optimizer again."""
        config: dict[str, Any] = super().get_config()  # type: ignore[misc]
        return {**config, "unique": self.unique}


@keras.saving.register_keras_serializable(package="ctr")
class RowSparseAdam(_RowSparse, keras.optimizers.Adam):
    """Adam whose moments and weights move only in rows that the batch touches.

    For a touched row with gradient g at step t (of the optimizer, not of the row):
    m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2,
    w <- w - lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon).

    References:
        Kingma and Ba, 2015, https://arxiv.org/abs/1412.6980. The lazy form is that of
        LazyAdam in TensorFlow Addons.
    """

    def __init__(
        self, learning_rate: Any = 0.001, *, amsgrad: bool = False, **kwargs: Any
    ) -> None:
        if amsgrad:
            raise ValueError(
                "RowSparseAdam: amsgrad must be False, got True; AMSGrad's maximum is "
                "not defined for rows that are skipped. Use keras.optimizers.Adam"
            )
        super().__init__(learning_rate=learning_rate, **kwargs)

    def update_rows(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates the rows of a gradient without repeated indices."""
        index = self._get_variable_index(variable)
        momentum = self._momentums[index].value
        velocity = self._velocities[index].value
        rows, values = gradient.indices, gradient.values
        step = tf.cast(self.iterations + 1, variable.dtype)
        bias = tf.sqrt(1 - tf.pow(self.beta_2, step)) / (1 - tf.pow(self.beta_1, step))
        old_momentum = tf.gather(momentum, rows)
        old_velocity = tf.gather(velocity, rows)
        new_momentum = old_momentum + (1 - self.beta_1) * (values - old_momentum)
        new_velocity = old_velocity + (1 - self.beta_2) * (
            tf.square(values) - old_velocity
        )
        change = (
            learning_rate * bias * new_momentum / (tf.sqrt(new_velocity) + self.epsilon)
        )
        momentum.scatter_update(tf.IndexedSlices(new_momentum, rows))
        velocity.scatter_update(tf.IndexedSlices(new_velocity, rows))
        variable.scatter_sub(tf.IndexedSlices(change, rows))


@keras.saving.register_keras_serializable(package="ctr")
class RowSparseAdagrad(_RowSparse, keras.optimizers.Adagrad):
    """Adagrad that reads and writes only the rows that the batch touches.

    For a touched row with gradient g: a <- a + g^2, w <- w - lr g / sqrt(a + epsilon);
    the same numbers as ``keras.optimizers.Adagrad``.

    References:
        Duchi et al., 2011, https://jmlr.org/papers/v12/duchi11a.html.
    """

    def update_rows(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates the rows of a gradient without repeated indices."""
        accumulator = self._accumulators[self._get_variable_index(variable)].value
        rows, values = gradient.indices, gradient.values
        total = tf.gather(accumulator, rows) + tf.square(values)
        change = learning_rate * values / tf.sqrt(total + self.epsilon)
        accumulator.scatter_update(tf.IndexedSlices(total, rows))
        variable.scatter_sub(tf.IndexedSlices(change, rows))


def _tf_variable(variable: Any) -> Any:
    """The TensorFlow variable inside a Keras variable."""
    return variable.value if isinstance(variable, keras.Variable) else variable

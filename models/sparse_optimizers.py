"""Adam, Adagrad and SGD that update only the embedding rows of the batch.

Keras' own Adam and Adagrad turn a row gradient (``tf.IndexedSlices``) into an update of
the whole table: moments of every row decay, and every row is written, so that a step
costs as much as the tables are large. The optimizers here cost as much as the batch
touches. Dense gradients get the update of the base class' formula.

What differs from the dense optimizers: the moments of a row stay as they are while no
batch touches it ("lazy"), and its weights do not move by left-over momentum. Weight
decay likewise reaches only the rows of the batch. Adagrad and SGD without either are
unaffected: a row without gradient does not change in either form.
"""

from collections.abc import Callable
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
    """What the optimizers share: dispatch on the kind of gradient, and weight decay.

    Args:
        reduced: the caller promises that gradients are summed over the replicas and
            that no index of a row gradient repeats, which saves doing either again.
        **kwargs: arguments of the Keras optimizer.
    """

    # Each optimizer defines it: updates the rows of a gradient whose indices do not
    # repeat, given gradient, variable and learning rate.
    update_rows: Callable[[Any, Any, Any], None]

    def __init__(self, *args: Any, reduced: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reduced = reduced

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable, called by Keras for each.

        Args:
            gradient: a dense tensor or ``tf.IndexedSlices``.
            variable: the variable, of the current replica.
            learning_rate: scalar.
        """
        target = _tf_variable(variable)
        rate = tf.cast(learning_rate, target.dtype)
        decays = self.weight_decay and self._use_weight_decay(  # type: ignore[attr-defined]
            target
        )
        decay = rate * self.weight_decay if decays else None  # type: ignore[attr-defined]
        if not isinstance(gradient, tf.IndexedSlices):
            if decay is not None:
                target.assign_sub(decay * target)
            super().update_step(  # type: ignore[misc]
                gradient, variable, learning_rate
            )
            return
        unique = gradient if self.reduced else unique_rows(gradient)
        if decay is not None:
            rows = tf.gather(target, unique.indices)
            target.scatter_sub(tf.IndexedSlices(decay * rows, unique.indices))
        self.update_rows(unique, target, rate)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make the same optimizer again."""
        config: dict[str, Any] = super().get_config()  # type: ignore[misc]
        return {**config, "reduced": self.reduced}

    def _apply_weight_decay(self, _: Any) -> None:
        """Nothing: Keras would decay whole tables here; ``update_step`` decays rows."""

    def _all_reduce_sum_gradients(self, grads_and_vars: Any) -> Any:
        """Keras' sum over the replicas, unless the caller has done it."""
        if self.reduced:
            return grads_and_vars
        return super()._all_reduce_sum_gradients(grads_and_vars)  # type: ignore[misc]


@keras.saving.register_keras_serializable(package="ctr")
class RowSparseAdam(_RowSparse, keras.optimizers.Adam):
    """Adam whose moments and weights move only in rows that the batch touches.

    For a touched row with gradient g at step t (of the optimizer, not of the row):
    m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2,
    w <- w - lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon).
    With ``weight_decay`` its weights shrink by lr * weight_decay before that (AdamW).

    References:
        Kingma and Ba, 2015, https://arxiv.org/abs/1412.6980; Loshchilov and Hutter,
        2019, https://arxiv.org/abs/1711.05101. The lazy form is that of LazyAdam in
        TensorFlow Addons.
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


@keras.saving.register_keras_serializable(package="ctr")
class RowSparseSGD(_RowSparse, keras.optimizers.SGD):
    """Gradient descent that writes only the rows that the batch touches.

    For a touched row with gradient g: w <- w - lr g. There is no momentum: it would
    move rows that the batch does not touch.
    """

    def __init__(self, learning_rate: Any = 0.01, **kwargs: Any) -> None:
        if kwargs.get("momentum"):
            raise ValueError(
                f"RowSparseSGD: momentum must be 0, got {kwargs['momentum']}; it moves "
                "rows that the batch does not touch. Use keras.optimizers.SGD"
            )
        super().__init__(learning_rate=learning_rate, **kwargs)

    def update_rows(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates the rows of a gradient without repeated indices."""
        variable.scatter_sub(
            tf.IndexedSlices(learning_rate * gradient.values, gradient.indices)
        )


def _tf_variable(variable: Any) -> Any:
    """The TensorFlow variable inside a Keras variable."""
    return variable.value if isinstance(variable, keras.Variable) else variable

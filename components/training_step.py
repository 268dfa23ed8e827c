"""One training step as a graph: loss, gradients, update and what is worth watching."""

import dataclasses
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from components.config import TrainConfig
from models.sparse_optimizers import RowSparseAdagrad, RowSparseAdam, unique_rows


@dataclasses.dataclass(frozen=True)
class StepReport:
    """What a step says about itself.

    Attributes:
        loss: weighted mean of the cross-entropy over the global batch, without
            penalties.
        rows: rows of the global batch.
        gradient_norm: Euclidean norm of the gradient over all weights. With several
            replicas, the root of the sum of their squared norms.
        bad_inputs: names of float inputs, the label or the weight that hold a value
            that is not finite.
        bad_weights: names of the weights whose gradient is not finite.
    """

    loss: float
    rows: int
    gradient_norm: float
    bad_inputs: tuple[str, ...]
    bad_weights: tuple[str, ...]


class TrainingStep:
    """The compiled step of a model under a strategy.

    Args:
        model: from a dict of inputs to logits [B, 1], made under the strategy.
        optimizer: made under the strategy.
        strategy: the strategy.
        element_spec: of the distributed batches (inputs, label [B], weight [B]); with
            an open batch dimension all batches share one trace.
    """

    def __init__(
        self, model: keras.Model, optimizer: Any, strategy: Any, element_spec: Any
    ) -> None:
        self._model, self._optimizer, self._strategy = model, optimizer, strategy
        self._weights = [weight.path for weight in model.trainable_variables]
        self._inputs: list[str] = []
        self.traces = 0
        self._run: Callable[..., Any] = tf.function(
            self._step, input_signature=element_spec
        )

    def __call__(self, batch: tuple[Any, Any, Any]) -> Any:
        """Trains on one batch.

        Args:
            batch: inputs, label and weight.

        Returns:
            float32 vector for ``report``; a device value that is not waited for.
        """
        return self._run(*batch)

    def report(self, values: npt.NDArray[np.float32]) -> StepReport:
        """Reads the vector that a step returned."""
        weights = values[2 : 2 + len(self._weights)]
        inputs = values[2 + len(self._weights) :]
        return StepReport(
            loss=float(values[0]),
            rows=round(float(values[1])),
            gradient_norm=float(np.sqrt(weights.sum(dtype=np.float64))),
            bad_inputs=_named(self._inputs, inputs != 0),
            bad_weights=_named(self._weights, ~np.isfinite(weights)),
        )

    def _step(self, features: Any, label: Any, weight: Any) -> Any:
        """The step over all replicas; runs as Python only when it is traced."""
        self.traces += 1
        values = self._strategy.run(self._replica_step, (features, label, weight))
        return self._strategy.reduce(tf.distribute.ReduceOp.SUM, values, axis=None)

    def _replica_step(self, features: Any, label: Any, weight: Any) -> Any:
        """The step of one replica on its share of the global batch.

        Data loss and penalties are divided by totals of the *global* batch, so that
        gradients summed over replicas are those of one device.
        """
        rows = tf.cast(tf.shape(label)[0], tf.float32)
        totals = tf.distribute.get_replica_context().all_reduce(
            tf.distribute.ReduceOp.SUM, tf.stack([tf.reduce_sum(weight), rows])
        )
        variables = self._model.trainable_variables
        with tf.GradientTape() as tape:
            logits = self._model(features, training=True)  # [B, 1]
            cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits(
                labels=label, logits=tf.squeeze(tf.cast(logits, tf.float32), axis=1)
            )  # [B]
            loss = tf.math.divide_no_nan(
                tf.reduce_sum(weight * cross_entropy), totals[0]
            )
            # A layer's penalty is a mean over the rows of this replica.
            penalties = [tf.cast(one, tf.float32) for one in self._model.losses]
            objective = tf.add_n([loss, *(one * rows / totals[1] for one in penalties)])
        gradients = [
            unique_rows(gradient)
            if isinstance(gradient, tf.IndexedSlices)
            else gradient
            for gradient in tape.gradient(objective, variables)
        ]
        self._optimizer.apply(gradients, variables)
        return tf.concat(
            [
                tf.stack([loss, rows, *(_squared_norm(one) for one in gradients)]),
                self._not_finite(features, label, weight),
            ],
            axis=0,
        )

    def _not_finite(self, features: Any, label: Any, weight: Any) -> Any:
        """For each float input: 1 if it holds a value that is not finite, else 0."""
        floats = {
            **{name: one for name, one in features.items() if one.dtype.is_floating},
            "label": label,
            "weight": weight,
        }
        self._inputs = list(floats)
        finite = [tf.reduce_all(tf.math.is_finite(one)) for one in floats.values()]
        return 1.0 - tf.cast(tf.stack(finite), tf.float32)


def make_optimizer(config: TrainConfig, replicas: int = 1) -> Any:
    """Makes the optimizer that the configuration names; call it under the strategy.

    Args:
        config: name and learning rate.
        replicas: number of replicas; the rows of a single one's gradients are already
            unique when the optimizer gets them.

    Returns:
        A Keras optimizer that leaves untouched embedding rows alone.
    """
    if config.optimizer == "adam":
        return RowSparseAdam(config.learning_rate, unique=replicas == 1)
    if config.optimizer == "adagrad":
        return RowSparseAdagrad(config.learning_rate, unique=replicas == 1)
    return keras.optimizers.SGD(config.learning_rate)


def _squared_norm(gradient: Any) -> Any:
    """Squared Euclidean norm; 0 for a weight that the loss does not reach."""
    if gradient is None:
        return tf.constant(0.0)
    values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    return tf.reduce_sum(tf.square(tf.cast(values, tf.float32)))


def _named(names: list[str], flags: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """The names whose flag is set."""
    return tuple(name for name, flag in zip(names, flags, strict=True) if flag)

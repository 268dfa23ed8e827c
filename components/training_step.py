"""One training step as a graph: loss, gradients, update and what is worth watching."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.sparse_optimizers import unique_rows
from models.static_shapes import needs_static_shapes


@dataclasses.dataclass(frozen=True)
class StepReport:
    """What a step says about itself.

    Attributes:
        loss: weighted mean of the cross-entropy over the global batch, without
            penalties.
        rows: rows of the global batch.
        gradient_norm: Euclidean norm of the gradient over all weights, before
            clipping.
        waited: seconds for which the step waited for its batch.
        bad_inputs: names of float inputs, the label or the weight that hold a value
            that is not finite.
        bad_weights: names of the weights whose gradient is not finite.
    """

    loss: float
    rows: int
    gradient_norm: float
    waited: float
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
        clip_norm: longest gradient over all weights, or None.
        deterministic: only deterministic operations are allowed, and TensorFlow's clock
            is none.
    """

    def __init__(
        self,
        model: keras.Model,
        optimizer: Any,
        strategy: Any,
        element_spec: Any,
        clip_norm: float | None = None,
        deterministic: bool = False,
    ) -> None:
        self._model, self._optimizer, self._strategy = model, optimizer, strategy
        self._clip_norm, self._deterministic = clip_norm, deterministic
        self._weights = [weight.path for weight in model.trainable_variables]
        self._inputs: list[str] = []
        self.traces = 0
        self.function: Callable[..., Any] = tf.function(
            self._batch_step, input_signature=element_spec
        )
        self._from_iterator: Callable[..., Any] = tf.function(self._next_step)

    def __call__(self, batch: tuple[Any, Any, Any]) -> Any:
        """Trains on one batch.

        Args:
            batch: inputs, label and weight.

        Returns:
            float32 vector; a device value that is not waited for.
        """
        return self.function(*batch)

    def take(self, iterator: Any) -> Any:
        """Trains on the next batch of an iterator.

        The batch is fetched inside the graph: to hand dozens of tensors to Python and
        back costs a small network a tenth of its step.

        Args:
            iterator: over batches of the element spec.

        Returns:
            For ``report``.

        Raises:
            tf.errors.OutOfRangeError, StopIteration: there are no more.
        """
        if not self._deterministic:
            return self._from_iterator(iterator), None
        start = time.perf_counter()
        batch = next(iterator)
        waited = time.perf_counter() - start
        return self(batch), waited

    def report(self, taken: Any) -> StepReport:
        """Reads what ``take`` returned; waits for it.

        Args:
            taken: the vector, and the seconds waited for the batch where the vector
                does not tell.
        """
        values, waited = np.asarray(taken[0]), taken[1]
        weights = values[3 : 3 + len(self._weights)]
        inputs = values[3 + len(self._weights) :]
        return StepReport(
            loss=float(values[1]),
            rows=round(float(values[2])),
            gradient_norm=float(np.sqrt(weights.sum(dtype=np.float64))),
            waited=float(values[0]) if waited is None else waited,
            bad_inputs=_named(self._inputs, inputs != 0),
            bad_weights=_named(self._weights, ~np.isfinite(weights)),
        )

    def _batch_step(self, features: Any, label: Any, weight: Any) -> Any:
        """Takes a step on a batch that is there."""
        return self._step(features, label, weight, tf.constant(0.0))

    def _next_step(self, iterator: Any) -> Any:
        """Fetches a batch, and takes a step on it."""
        begin = tf.timestamp()
        with tf.control_dependencies([begin]):
            batch = _next_batch(iterator)
        with tf.control_dependencies(tf.nest.flatten(batch, expand_composites=True)):
            waited = tf.timestamp() - begin
        features, label, weight = batch
        return self._step(features, label, weight, waited)

    def _step(self, features: Any, label: Any, weight: Any, waited: Any) -> Any:
        """The step over all replicas; runs as Python only when it is traced."""
        self.traces += 1
        values = self._strategy.run(self._replica_step, (features, label, weight))
        total = self._strategy.reduce(tf.distribute.ReduceOp.SUM, values, axis=None)
        return tf.concat([[tf.cast(waited, tf.float32)], total], axis=0)

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
        gradients = _summed(tape.gradient(objective, variables))
        squares = tf.stack([_squared_norm(one) for one in gradients])
        if self._clip_norm is not None:
            scale = _clipping(tf.sqrt(tf.reduce_sum(squares)), self._clip_norm)
            gradients = [_scaled(one, scale) for one in gradients]
        self._optimizer.apply(gradients, variables)
        replicas = tf.distribute.get_replica_context().num_replicas_in_sync
        return tf.concat(
            [
                tf.stack([loss, rows]),
                # Equal on all replicas, whose values are added up.
                squares / replicas,
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


def _next_batch(iterator: Any) -> Any:
    """The next batch, within a graph.

    For a single device by the operation that blocks: the usual one hands over to
    another thread and back, and other operations of the step run in between, so that
    it costs up to a twentieth of a small step and waiting cannot be told from working.
    """
    if not isinstance(iterator, tf.data.Iterator):
        return next(iterator)
    specs = tf.nest.flatten(iterator.element_spec)
    values = tf.raw_ops.IteratorGetNextSync(
        iterator=iterator._iterator_resource,
        output_types=[spec.dtype for spec in specs],
        output_shapes=[spec.shape for spec in specs],
    )
    return tf.nest.pack_sequence_as(iterator.element_spec, values)


def _summed(gradients: list[Any]) -> list[Any]:
    """Gradients over all replicas; rows of tables are each there once."""
    found = [_unique(one) for one in gradients if one is not None]
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync > 1:
        summed = context.all_reduce(tf.distribute.ReduceOp.SUM, found)
        found = [_unique(one) for one in summed]
    rest = iter(found)
    return [None if one is None else next(rest) for one in gradients]


def _unique(gradient: Any) -> Any:
    """The gradient, each of its rows once if it is one of rows.

    Where shapes must be known it becomes one of the whole table.
    """
    if not _is_rows(gradient):
        return gradient
    if needs_static_shapes():
        return tf.convert_to_tensor(gradient)
    return unique_rows(gradient)


def _is_rows(gradient: Any) -> bool:
    """Whether a gradient holds some rows of a table only."""
    return isinstance(gradient, tf.IndexedSlices)


def _clipping(norm: Any, longest: float) -> Any:
    """The factor that makes a gradient no longer than allowed; never above 1."""
    return longest / tf.maximum(norm, longest)


def _scaled(gradient: Any, factor: Any) -> Any:
    """A gradient times a factor; the rows of a table stay rows."""
    if not _is_rows(gradient):
        return None if gradient is None else gradient * factor
    return tf.IndexedSlices(
        gradient.values * factor, gradient.indices, gradient.dense_shape
    )


def _squared_norm(gradient: Any) -> Any:
    """Squared Euclidean norm; 0 for a weight that the loss does not reach."""
    if gradient is None:
        return tf.constant(0.0)
    values = gradient.values if _is_rows(gradient) else gradient
    return tf.reduce_sum(tf.square(tf.cast(values, tf.float32)))


def _named(names: list[str], flags: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """The names whose flag is set."""
    return tuple(name for name, flag in zip(names, flags, strict=True) if flag)

"""PCOP, predicted over observed clicks, as a Keras metric."""

from typing import Any

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="ctr")
class PCOP(keras.metrics.Metric):
    """Sum of weighted predictions over the sum of weighted clicks; 1 is right.

    Both sums are float64: at float32 the sum of a few million small probabilities stops
    growing. Replicas add up their own rows, and a read outside of them adds up replicas.

    Args:
        name: of the metric.
        dtype: of the result.
    """

    def __init__(self, name: str = "pcop", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self._predicted = self.add_variable([], "zeros", "float64", name="predicted")
        self._observed = self.add_variable([], "zeros", "float64", name="observed")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds rows.

        Args:
            y_true: labels, 0 or 1, [B] or [B, 1].
            y_pred: click probabilities [B] or [B, 1].
            sample_weight: [B] or [B, 1]; 1 each without it.
        """
        labels = tf.cast(tf.reshape(y_true, [-1]), tf.float64)
        predictions = tf.cast(tf.reshape(y_pred, [-1]), tf.float64)
        if sample_weight is not None:
            weights = tf.cast(tf.reshape(sample_weight, [-1]), tf.float64)
            labels, predictions = labels * weights, predictions * weights
        self._predicted.assign_add(tf.reduce_sum(predictions))
        self._observed.assign_add(tf.reduce_sum(labels))

    def result(self) -> Any:
        """PCOP as a scalar of the metric's dtype; NaN without clicks."""
        predicted = tf.convert_to_tensor(self._predicted)
        observed = tf.convert_to_tensor(self._observed)
        undefined = tf.constant(float("nan"), tf.float64)
        value = tf.where(observed > 0, predicted / observed, undefined)
        return tf.cast(value, self.dtype)

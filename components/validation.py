"""What the validation rows say about a model between two epochs."""

import dataclasses
import math
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from components.metrics.keras_group_auc import GroupAUC
from components.metrics.keras_pcop import PCOP
from components.metrics.names import UserWeight
from data.errors import RunError


@dataclasses.dataclass(frozen=True)
class ValidationScores:
    """A model on the validation rows; None where a metric has no meaning.

    Attributes:
        epoch: number of the epoch before, from 1.
        loss: mean cross-entropy of the training rows over that epoch.
        log_loss: weighted mean cross-entropy of the validation rows, nats.
        gauc: AUC inside users, averaged over them; None without user ids too.
        pcop: predicted over observed clicks.
        gauc_exact: whether ``gauc`` is over all users; None without user ids.
        gauc_interval: 95 % interval of it while it is over a sample of users.
    """

    epoch: int
    loss: float
    log_loss: float | None
    gauc: float | None
    pcop: float | None
    gauc_exact: bool | None = None
    gauc_interval: tuple[float, float] | None = None

    def scalars(self) -> dict[str, float]:
        """The metrics that have a value, by tag."""
        values = {name: getattr(self, name) for name in ("log_loss", "gauc", "pcop")}
        return {
            f"validation/{name}": value
            for name, value in values.items()
            if value is not None
        }


class Validation:
    """Scores a model on the validation rows; its graph is traced once.

    Every process scores all rows on one device, so that no strategy changes the result.

    Args:
        model: from a dict of inputs to logits [B, 1].
        data: batches of (inputs, label [B], weight [B]), with the user int64 [B] (-1 for
            none) behind them where there are user ids.
        capacity: rows for which GAUC is exact.
        user_weight: what a user weighs in GAUC.
    """

    def __init__(
        self,
        model: keras.Model,
        data: tf.data.Dataset,
        capacity: int,
        user_weight: UserWeight = "impressions",
    ) -> None:
        self._model, self._data = model, data
        self._pcop = PCOP(dtype="float64")
        has_users = len(data.element_spec) == 4
        # Logits are ranked, not probabilities: float32 has few of those close to 1.
        self._gauc = GroupAUC(capacity, user_weight) if has_users else None
        self._sums = tf.function(self._batch_sums, input_signature=data.element_spec)

    def measure(self, epoch: int, loss: float) -> ValidationScores:
        """Scores the model as it is now.

        Args:
            epoch: number of the epoch before, from 1.
            loss: mean loss of its training rows.

        Returns:
            The metrics.

        Raises:
            RunError: a prediction is not finite.
        """
        metrics = [one for one in (self._pcop, self._gauc) if one is not None]
        for metric in metrics:
            metric.reset_state()
        total = np.zeros(2)
        for batch in self._data:
            total += self._sums(*batch).numpy()
        if not math.isfinite(total[0]):
            raise RunError(
                f"training: the loss on the validation rows is {total[0]} after epoch "
                f"{epoch}. Lower train.learning_rate, or clip large numeric features"
            )
        state = self._gauc.state() if self._gauc is not None else None
        return ValidationScores(
            epoch=epoch,
            loss=loss,
            log_loss=float(total[0] / total[1]) if total[1] else None,
            gauc=_defined(state.value) if state else None,
            pcop=_defined(float(self._pcop.result())),
            gauc_exact=state.exact if state else None,
            gauc_interval=state.interval if state else None,
        )

    def _batch_sums(self, features: Any, label: Any, weight: Any, *user: Any) -> Any:
        """Adds a batch to the metrics; sums of weighted losses and of weights, [2]."""
        logits = self._model(features, training=False)
        logits = tf.squeeze(tf.cast(logits, tf.float32), axis=1)  # [B, 1] -> [B]
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits)
        self._pcop.update_state(label, tf.sigmoid(logits), weight)
        if self._gauc is not None:
            self._gauc.update_state(label, logits, weight, user_ids=user[0])
        losses, weight = tf.cast(losses, tf.float64), tf.cast(weight, tf.float64)
        return tf.stack([tf.reduce_sum(weight * losses), tf.reduce_sum(weight)])


def _defined(value: float) -> float | None:
    """The value, or None for NaN."""
    return None if math.isnan(value) else value

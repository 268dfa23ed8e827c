"""Ends a training when the validation rows say so, and brings the best epoch back."""

import math
from typing import Any

import keras

from components.config import ValidationConfig
from components.validation import ValidationScores


class EarlyStopping:
    """Watches one metric over the epochs.

    The best epoch is the one with the best value. Patience counts the epochs since the
    value last came ``min_delta`` nearer to its aim. The best weights are kept in main
    memory: a copy a training, against a file of the same size at every better epoch.

    Args:
        config: what to watch, and how patiently.
        model: the model; ``restore`` changes its weights.

    Attributes:
        best_epoch: number of the best epoch, None before there is one.
        notice: why some epochs were not judged, or None.
    """

    def __init__(self, config: ValidationConfig, model: keras.Model) -> None:
        self._config, self._model = config, model
        self._best = self._reference = -math.inf
        self._weights: list[Any] = []
        self._waited = 0
        self.best_epoch: int | None = None
        self.notice: str | None = None

    def should_stop(self, scores: ValidationScores) -> bool:
        """Takes note of an epoch.

        Args:
            scores: of the model as it is now.

        Returns:
            True if the training should end. An epoch whose value cannot be trusted
            counts neither for nor against it.
        """
        if self._config.monitor is None:
            return False
        doubt = self._doubt(scores)
        if doubt is not None:
            self.notice = self.notice or doubt
            return False
        value = getattr(scores, self._config.monitor)
        if self._config.monitor == "log_loss":
            value = -value
        if value > self._best:
            self._best, self.best_epoch = value, scores.epoch
            self._weights = self._model.get_weights()
        if (
            value > self._reference
            and value - self._reference >= self._config.min_delta
        ):
            self._reference, self._waited = value, 0
        else:
            self._waited += 1
        return self._waited >= self._config.patience

    def restore(self) -> None:
        """Gives the model the weights of the best epoch, if there is one."""
        if self.best_epoch is not None:
            self._model.set_weights(self._weights)

    def _doubt(self, scores: ValidationScores) -> str | None:
        """Why the value cannot be trusted, or None."""
        monitor = self._config.monitor
        place = f"train.validation.monitor: epoch {scores.epoch} was not judged"
        if getattr(scores, str(monitor)) is None:
            return f"{place}: {monitor} has no value on the validation rows"
        if monitor == "log_loss" or scores.gauc_exact:
            return None
        interval = scores.gauc_interval
        if (
            interval is not None
            and interval[1] - interval[0] < 2 * self._config.min_delta
        ):
            return None
        width = "none" if interval is None else f"{(interval[1] - interval[0]) / 2:.4f}"
        return (
            f"{place}: GAUC is from a sample of users, half-width {width} against "
            f"min_delta {self._config.min_delta}. Raise train.validation.capacity to the "
            "number of validation rows, or monitor log_loss"
        )

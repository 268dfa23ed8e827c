"""Ends a training when the validation rows say so, and knows the best epoch."""

import dataclasses
import math

from components.config import ValidationConfig
from components.validation import ValidationScores


@dataclasses.dataclass
class Best:
    """The best epoch so far.

    Attributes:
        epoch: its number, None before there is one.
        value: its value; larger is better.
        reference: the value that the next one must exceed by ``min_delta``.
        waited: epochs since one did.
        notice: why some epochs were not judged, or None.
    """

    epoch: int | None = None
    value: float = -math.inf
    reference: float = -math.inf
    waited: int = 0
    notice: str | None = None


class EarlyStopping:
    """Watches one metric over the epochs.

    The best epoch is the one with the best value. Patience counts the epochs since the
    value last came ``min_delta`` nearer to its aim.

    Args:
        config: what to watch, and how patiently.
        best: the best epoch so far; changed in place.
    """

    def __init__(self, config: ValidationConfig, best: Best) -> None:
        self._config, self._best = config, best

    def should_stop(self, scores: ValidationScores) -> bool:
        """Takes note of an epoch.

        Args:
            scores: of the model as it is now; if it is the best, ``best.epoch`` is
                its number afterwards.

        Returns:
            True if the training should end. An epoch whose value cannot be trusted
            counts neither for nor against it.
        """
        if self._config.monitor is None:
            return False
        best = self._best
        doubt = self._doubt(scores)
        if doubt is not None:
            best.notice = best.notice or doubt
            return False
        value = getattr(scores, self._config.monitor)
        if self._config.monitor == "log_loss":
            value = -value
        if value > best.value:
            best.value, best.epoch = value, scores.epoch
        if value > best.reference and value - best.reference >= self._config.min_delta:
            best.reference, best.waited = value, 0
        else:
            best.waited += 1
        return best.waited >= self._config.patience

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

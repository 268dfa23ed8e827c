"""What a training did, as the Trainer writes it down."""

import dataclasses
from typing import Any

from components.validation import ValidationScores


@dataclasses.dataclass(frozen=True)
class TrainResult:
    """What a training did.

    Attributes:
        steps: optimizer steps.
        examples: rows read, over all epochs.
        epochs: epochs done.
        final_loss: mean cross-entropy over the last steps, without penalties.
        seconds: wall time.
        input_wait_share: share of it spent waiting for batches, 0 to 1.
        epoch_losses: mean cross-entropy of the training rows over each epoch.
        points: reports by step, thinned to what a chart needs.
        validation: scores on the validation rows after each epoch, empty without such
            rows.
        best_epoch: the epoch whose weights the model has, where one was chosen.
        stopped_early: whether validation ended the training.
        notice: why validation did not judge some epochs, or None.
        traces: how often the step was traced; 1 unless batches differ in more than
            their number of rows.
        resumed_at: steps that a checkpoint had already done, 0 without one.
    """

    steps: int
    examples: int
    epochs: int
    final_loss: float
    seconds: float
    input_wait_share: float
    epoch_losses: tuple[float, ...]
    points: tuple[dict[str, float | None], ...]
    validation: tuple[ValidationScores, ...]
    best_epoch: int | None
    stopped_early: bool
    notice: str | None
    traces: int
    resumed_at: int

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return dataclasses.asdict(self)

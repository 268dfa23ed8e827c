"""Where a training stands: what a checkpoint holds besides the weights."""

import dataclasses
import json
import math
from typing import Any

from components.early_stopping import Best
from components.training_log import Progress
from components.validation import ValidationScores


@dataclasses.dataclass
class TrainingState:
    """Counters of a training. They say which batch comes next, too.

    Attributes:
        epoch: number of the running epoch, from 0.
        batches: batches of it that are done.
        steps: steps done.
        examples: rows read.
        loss: mean over the rows of the last report.
        epoch_loss: sum of the losses of the running epoch's rows.
        epoch_rows: number of these rows.
        epoch_losses: mean loss over each finished epoch.
        reports: what was reported, in order.
        validation: scores after each epoch.
        seconds: wall time.
        waited: part of it spent waiting for batches.
        stopped: whether validation ended the training.
        best: the best epoch by validation.
    """

    epoch: int = 0
    batches: int = 0
    steps: int = 0
    examples: int = 0
    loss: float = math.nan
    epoch_loss: float = 0.0
    epoch_rows: int = 0
    epoch_losses: list[float] = dataclasses.field(default_factory=list)
    reports: list[Progress] = dataclasses.field(default_factory=list)
    validation: list[ValidationScores] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    waited: float = 0.0
    stopped: bool = False
    best: Best = dataclasses.field(default_factory=Best)

    @property
    def wait_share(self) -> float:
        """Waiting over elapsed time, 0 to 1."""
        return self.waited / max(self.seconds, 1e-9)

    def end_epoch(self) -> None:
        """Closes the running epoch and begins the next one."""
        self.epoch_losses.append(self.epoch_loss / max(self.epoch_rows, 1))
        self.epoch, self.batches = self.epoch + 1, 0
        self.epoch_loss, self.epoch_rows = 0.0, 0

    def to_json(self) -> str:
        """The state as text."""
        return json.dumps(dataclasses.asdict(self))

    def load(self, text: str) -> None:
        """Takes over a state that ``to_json`` wrote."""
        values = json.loads(text)
        values["reports"] = [Progress(**one) for one in values["reports"]]
        values["best"] = Best(**values["best"])
        values["validation"] = [_scores(one) for one in values["validation"]]
        for name, value in values.items():
            setattr(self, name, value)


def _scores(values: dict[str, Any]) -> ValidationScores:
    """Scores from plain values; JSON has no tuples."""
    interval = values["gauc_interval"]
    return ValidationScores(
        **{**values, "gauc_interval": tuple(interval) if interval else None}
    )

"""What a training tells while it runs: progress, TensorBoard scalars, the last loss."""

import dataclasses
import time
from typing import Any

import tensorflow as tf

from components.training_step import StepReport
from components.validation import ValidationScores

# A chart of a training needs no more.
_MOST_POINTS = 200


@dataclasses.dataclass(frozen=True)
class Progress:
    """State of a training since the report before.

    Attributes:
        epoch: number of the running epoch, from 1.
        epochs: how many there will be.
        step: steps done since the start.
        examples: rows read since the start.
        loss: mean over the rows since the last report.
        examples_per_second: since the last report.
        step_seconds: mean time of a step, waiting included.
        input_wait_share: share of the time spent waiting for the next batch, 0 to 1.
        gradient_norm: of the last step.
        learning_rate: of the last step.
        validation: scores after the epoch, in a report of their own; else None.
    """

    epoch: int
    epochs: int
    step: int
    examples: int
    loss: float
    examples_per_second: float
    step_seconds: float
    input_wait_share: float
    gradient_norm: float
    learning_rate: float
    validation: ValidationScores | None = None


class Stopwatch:
    """Adds up elapsed time and the part of it that was spent waiting for input."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self.waited = 0.0

    def timed_next(self, iterator: Any) -> Any:
        """Returns the next batch, or None at the end, and adds the time it took."""
        start = time.perf_counter()
        batch = next(iterator, None)
        self.waited += time.perf_counter() - start
        return batch

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def wait_share(self) -> float:
        """Waiting over elapsed time, 0 to 1."""
        return self.waited / max(self.elapsed, 1e-9)


class TensorBoardLog:
    """Scalars for TensorBoard; does nothing without a folder.

    Args:
        log_dir: folder of the event file, or None.
    """

    def __init__(self, log_dir: str | None) -> None:
        self._writer = tf.summary.create_file_writer(log_dir) if log_dir else None

    def progress(self, progress: Progress) -> None:
        """Writes what ``Progress`` holds at its step."""
        names = (
            "loss",
            "examples_per_second",
            "step_seconds",
            "input_wait_share",
            "gradient_norm",
            "learning_rate",
        )
        values = {f"train/{name}": getattr(progress, name) for name in names}
        self.scalars(values, progress.step)

    def scalars(self, values: dict[str, float], step: int) -> None:
        """Writes each value under its tag."""
        if self._writer is None:
            return
        with self._writer.as_default(step=step):
            for name, value in values.items():
                tf.summary.scalar(name, value)

    def close(self) -> None:
        """Ends the event file."""
        if self._writer is not None:
            self._writer.close()


def thinned(reports: list[Progress]) -> tuple[dict[str, float], ...]:
    """What a training reported, evenly thinned to what a chart needs; the last is kept.

    Args:
        reports: all reports, in order.

    Returns:
        At most ``_MOST_POINTS`` of them.
    """
    names = (
        "step",
        "loss",
        "examples_per_second",
        "input_wait_share",
        "gradient_norm",
        "learning_rate",
    )
    stride = -(-len(reports) // _MOST_POINTS) or 1
    kept = reports[::-stride][::-1]
    return tuple({name: getattr(one, name) for name in names} for one in kept)


def mean_loss(reports: list[StepReport]) -> float:
    """Mean loss over the rows of some steps."""
    rows = sum(report.rows for report in reports)
    return sum(report.loss * report.rows for report in reports) / max(rows, 1)

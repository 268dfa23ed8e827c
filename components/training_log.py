"""What a training tells while it runs: progress, TensorBoard scalars, the last loss."""

import dataclasses
import time

import tensorflow as tf

from components.training_step import StepReport
from components.validation import ValidationScores

# A chart of a training needs no more.
_MOST_POINTS = 200
_SCALARS = (
    "loss",
    "examples_per_second",
    "step_seconds",
    "input_wait_share",
    "gradient_norm",
    "learning_rate",
    "device_utilisation",
)


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
        device_utilisation: share of the time since the last report in which the
            accelerators computed, 0 to 1; None where nothing tells it.
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
    device_utilisation: float | None = None
    validation: ValidationScores | None = None

    def line(self) -> str:
        """The same in one line for a terminal."""
        parts = [
            f"epoch {self.epoch}/{self.epochs}",
            f"step {self.step:,}",
            f"loss {self.loss:.4f}",
            f"{self.examples_per_second:,.0f} examples/s",
            f"waiting for input {self.input_wait_share:.0%}",
        ]
        if self.device_utilisation is not None:
            parts.append(f"device {self.device_utilisation:.0%}")
        if self.validation is not None:
            scores = self.validation.scalars().items()
            parts += [f"{name} {value:.4f}" for name, value in scores]
        return ", ".join(parts)


class Stopwatch:
    """Elapsed time.

    Args:
        elapsed: seconds that count from the start, of a training that goes on.
    """

    def __init__(self, elapsed: float = 0.0) -> None:
        self._start = time.perf_counter() - elapsed

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start


class TensorBoardLog:
    """Scalars for TensorBoard; does nothing without a folder.

    Args:
        log_dir: folder of the event file, or None.
    """

    def __init__(self, log_dir: str | None) -> None:
        self._writer = tf.summary.create_file_writer(log_dir) if log_dir else None

    def progress(self, progress: Progress) -> None:
        """Writes what ``Progress`` holds at its step."""
        values = {f"train/{name}": getattr(progress, name) for name in _SCALARS}
        known = {tag: value for tag, value in values.items() if value is not None}
        self.scalars(known, progress.step)

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


def thinned(reports: list[Progress]) -> tuple[dict[str, float | None], ...]:
    """What a training reported, evenly thinned to what a chart needs; the last is kept.

    Args:
        reports: all reports, in order.

    Returns:
        At most ``_MOST_POINTS`` of them.
    """
    stride = -(-len(reports) // _MOST_POINTS) or 1
    kept = reports[::-stride][::-1]
    return tuple(
        {name: getattr(one, name) for name in ("step", *_SCALARS)} for one in kept
    )


def mean_loss(reports: list[StepReport]) -> float:
    """Mean loss over the rows of some steps."""
    rows = sum(report.rows for report in reports)
    return sum(report.loss * report.rows for report in reports) / max(rows, 1)

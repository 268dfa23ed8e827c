"""The step of a training on its own, and the loop around it."""

import dataclasses
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from components.config import TrainConfig
from components.optimizer import make_optimizer
from components.profiling.timing import Cost
from components.strategy import make_strategy
from components.training_log import Stopwatch
from components.training_rows import TrainingRows
from components.training_step import StepReport, TrainingStep
from models.config import ModelConfig
from models.registry import build

# Steps between two looks at what they returned. A look waits for the device.
_STEPS = 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopCost:
    """What a training loop costs.

    Attributes:
        cost: of an example.
        steps: steps that were measured.
        step_seconds: mean time of a step, waiting included.
        wait_share: share of the time spent waiting for the next batch, 0 to 1.
    """

    cost: Cost
    steps: int
    step_seconds: float
    wait_share: float

    @property
    def examples_per_second(self) -> float:
        """Rows trained on in a second."""
        return 1e6 / self.cost.wall_us

    @classmethod
    def median_of(cls, loops: Sequence["LoopCost"]) -> "LoopCost":
        """Medians over rounds; steps are added up."""
        return cls(
            cost=Cost(
                statistics.median(one.cost.wall_us for one in loops),
                statistics.median(one.cost.cpu_us for one in loops),
            ),
            steps=sum(one.steps for one in loops),
            step_seconds=statistics.median(one.step_seconds for one in loops),
            wait_share=statistics.median(one.wait_share for one in loops),
        )


class Training:
    """A model with its compiled step, on one device of this machine.

    Args:
        rows: what it reads.
        model: the network.
        precision: as in ``TrainConfig``.
    """

    def __init__(self, rows: TrainingRows, model: ModelConfig, precision: str) -> None:
        config: TrainConfig = rows.config
        # First: it settles how an accelerator's memory is taken.
        strategy = make_strategy("default")
        keras.utils.set_random_seed(config.seed)
        network = build(model, rows.inputs, precision=precision)
        optimizer = make_optimizer(config)
        optimizer.build(network.trainable_variables)
        # The batch dimension is open, so batches of any size share one trace.
        self._step = TrainingStep(
            network,
            optimizer,
            strategy,
            rows.epoch(0).element_spec,
            config.clip_norm,
        )

    def steps(self, batch: Any) -> Iterator[float]:
        """Trains on one batch over and over; yields rows once they are trained on.

        Args:
            batch: inputs, label and weight, where the model is.
        """
        rows = int(batch[1].shape[0])
        while True:
            values = [self._step(batch) for _ in range(_STEPS)]
            np.asarray(values[-1])
            yield rows * _STEPS

    def loop(self, data: tf.data.Dataset, seconds: float) -> LoopCost:
        """Trains for a while, as ``components.training_loop`` does.

        Args:
            data: batches without end.
            seconds: after the first steps, which are not counted.

        Returns:
            What it cost.
        """
        batches = iter(data)
        self._some_steps(batches)
        watch, cpu = Stopwatch(), time.process_time()
        count = steps = 0
        waited = 0.0
        while steps == 0 or watch.elapsed < seconds:
            reports = self._some_steps(batches)
            count += sum(report.rows for report in reports)
            waited += sum(report.waited for report in reports)
            steps += _STEPS
        elapsed, cpu = watch.elapsed, time.process_time() - cpu
        return LoopCost(
            cost=Cost(elapsed / count * 1e6, cpu / count * 1e6),
            steps=steps,
            step_seconds=elapsed / steps,
            wait_share=waited / elapsed,
        )

    def _some_steps(self, batches: Any) -> list[StepReport]:
        """Takes steps and waits for the last."""
        taken = [self._step.take(batches) for _ in range(_STEPS)]
        return [self._step.report(one) for one in taken]


def accelerator() -> str | None:
    """Name of the first accelerator, None where there is none."""
    found = tf.config.list_logical_devices("GPU")
    return found[0].name if found else None

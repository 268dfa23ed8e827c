"""The training loop: any model, any strategy, sparse updates, watched while it runs.

Keras' own ``fit`` works under one strategy only, updates whole embedding tables and
does not say how long it waits for input; hence a loop of its own.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from components.config import TrainConfig
from components.training_log import Progress, Stopwatch, TensorBoardLog, mean_loss
from components.training_step import StepReport, TrainingStep, make_optimizer
from data.errors import RunError

# Steps between two looks at what the steps returned. A look waits for the device, so
# one at every step would keep an accelerator idle; the step at fault is found anyway.
_REPORT_STEPS = 50


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
        eval_losses: mean cross-entropy on the evaluation data after each epoch, empty
            without such data.
        traces: how often the step was traced; 1 unless batches differ in more than
            their number of rows.
    """

    steps: int
    examples: int
    epochs: int
    final_loss: float
    seconds: float
    input_wait_share: float
    eval_losses: tuple[float, ...]
    traces: int

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return dataclasses.asdict(self)


def train(
    model: keras.Model,
    train_data: Callable[[int], tf.data.Dataset],
    *,
    config: TrainConfig,
    strategy: Any,
    eval_data: tf.data.Dataset | None = None,
    log_dir: str | None = None,
    checkpoint_dir: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> TrainResult:
    """Trains a model for the configured number of epochs.

    Args:
        model: from a dict of inputs to logits float32 [B, 1], made under the
            strategy's scope. Its weights are changed in place.
        train_data: for the number of an epoch, from 0, its batches: (inputs by name,
            label float32 [B], weight float32 [B]), B rows of the global batch.
        config: epochs, optimizer, learning rate.
        strategy: the distribution strategy.
        eval_data: batches of the same form, scored after each epoch.
        log_dir: folder for TensorBoard.
        checkpoint_dir: folder for a checkpoint of model and optimizer after each
            epoch; the last one is kept.
        on_progress: called every 50 steps and at the end of an epoch.

    Returns:
        Counts, the last loss and timing.

    Raises:
        RunError: the loss is not finite (step and input are named), or there are no
            training rows.
    """
    with strategy.scope():
        optimizer = make_optimizer(config, strategy.num_replicas_in_sync)
        optimizer.build(model.trainable_variables)
    checkpoints = _checkpoints(model, optimizer, checkpoint_dir)
    log = TensorBoardLog(log_dir)
    run = _Run(
        model, optimizer, strategy, config=config, log=log, on_progress=on_progress
    )
    eval_losses: list[float] = []
    try:
        for epoch in range(config.epochs):
            run.epoch(epoch, train_data(epoch))
            if eval_data is not None:
                eval_losses.append(evaluate_loss(model, eval_data))
                log.scalars({"eval_loss": eval_losses[-1]}, run.steps)
            if checkpoints is not None:
                checkpoints.save(checkpoint_number=epoch + 1)
    finally:
        log.close()
    if not run.examples:
        raise RunError(
            "training: no rows in the train split; check the split and its shards"
        )
    return TrainResult(
        steps=run.steps,
        examples=run.examples,
        epochs=config.epochs,
        final_loss=run.loss,
        seconds=run.watch.elapsed,
        input_wait_share=run.watch.wait_share,
        eval_losses=tuple(eval_losses),
        traces=run.traces,
    )


def evaluate_loss(model: keras.Model, data: tf.data.Dataset) -> float:
    """Weighted mean cross-entropy of a model's logits.

    Args:
        model: from a dict of inputs to logits [B, 1].
        data: batches of (inputs, label, weight).

    Returns:
        The mean in nats; NaN without any weight.
    """

    @tf.function(reduce_retracing=True)
    def sums(features: Any, label: Any, weight: Any) -> Any:
        logits = tf.squeeze(model(features, training=False), axis=1)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits)
        return tf.stack([tf.reduce_sum(weight * losses), tf.reduce_sum(weight)])

    total = np.zeros(2)
    for batch in data:
        total += sums(*batch).numpy()
    return float(total[0] / total[1]) if total[1] else float("nan")


class _Run:
    """Counters of a training and the loop over the batches of one epoch."""

    def __init__(
        self,
        model: keras.Model,
        optimizer: Any,
        strategy: Any,
        *,
        config: TrainConfig,
        log: TensorBoardLog,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._model, self._optimizer, self._strategy = model, optimizer, strategy
        self._config, self._log, self._on_progress = config, log, on_progress
        self._step: TrainingStep | None = None
        self.watch = Stopwatch()
        self.steps = self.examples = 0
        self.loss = float("nan")

    @property
    def traces(self) -> int:
        """How often the step was traced."""
        return self._step.traces if self._step else 0

    def epoch(self, epoch: int, data: tf.data.Dataset) -> None:
        """Trains on all batches of one epoch."""
        decayed = self._config.learning_rate * self._config.learning_rate_decay**epoch
        self._optimizer.learning_rate = decayed
        batches = self._strategy.experimental_distribute_dataset(data)
        if self._step is None:
            self._step = TrainingStep(
                self._model, self._optimizer, self._strategy, batches.element_spec
            )
        iterator = iter(batches)
        pending: list[Any] = []
        since, waited = self.watch.elapsed, self.watch.waited
        while (batch := self.watch.timed_next(iterator)) is not None:
            pending.append(self._step(batch))
            if len(pending) == _REPORT_STEPS:
                self._report(epoch, pending, since, waited)
                pending = []
                since, waited = self.watch.elapsed, self.watch.waited
        if pending:
            self._report(epoch, pending, since, waited)

    def _report(
        self, epoch: int, pending: list[Any], since: float, waited: float
    ) -> None:
        """Looks at what some steps returned, and tells it."""
        assert self._step is not None
        reports = [self._step.report(one) for one in np.stack(pending)]
        for number, report in enumerate(reports, start=self.steps + 1):
            if not np.isfinite(report.loss):
                raise _not_finite(report, number, epoch + 1)
        self.steps += len(reports)
        rows = sum(report.rows for report in reports)
        self.examples += rows
        self.loss = mean_loss(reports)
        seconds = max(self.watch.elapsed - since, 1e-9)
        progress = Progress(
            epoch=epoch + 1,
            epochs=self._config.epochs,
            step=self.steps,
            examples=self.examples,
            loss=self.loss,
            examples_per_second=rows / seconds,
            step_seconds=seconds / len(reports),
            input_wait_share=(self.watch.waited - waited) / seconds,
            gradient_norm=reports[-1].gradient_norm,
            learning_rate=float(tf.convert_to_tensor(self._optimizer.learning_rate)),
        )
        self._log.progress(progress)
        if self._on_progress is not None:
            self._on_progress(progress)


def _not_finite(report: StepReport, step: int, epoch: int) -> RunError:
    """The error for a loss that is not finite: where it happened, and what to change."""
    place = f"training: the loss is {report.loss} at step {step} of epoch {epoch}"
    if report.bad_inputs:
        return RunError(
            f"{place}; not finite in that batch: {', '.join(report.bad_inputs)}. "
            "Clip or clean it at its source"
        )
    weights = ", ".join(report.bad_weights[:5]) or "none"
    return RunError(
        f"{place}; the inputs are finite, gradients that are not: {weights}. "
        "Lower train.learning_rate, or clip large numeric features"
    )


def _checkpoints(
    model: keras.Model, optimizer: Any, folder: str | None
) -> tf.train.CheckpointManager | None:
    """Keeper of the checkpoints, or None without a folder."""
    if folder is None:
        return None
    return tf.train.CheckpointManager(
        tf.train.Checkpoint(model=model, optimizer=optimizer), folder, max_to_keep=1
    )

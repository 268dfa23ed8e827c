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
from components.early_stopping import EarlyStopping
from components.metrics.names import UserWeight
from components.training_log import (
    Progress,
    Stopwatch,
    TensorBoardLog,
    mean_loss,
    thinned,
)
from components.training_result import TrainResult
from components.training_step import StepReport, TrainingStep, make_optimizer
from components.validation import Validation, ValidationScores
from data.errors import RunError

# Steps between two looks at what the steps returned. A look waits for the device, so
# one at every step would keep an accelerator idle; the step at fault is found anyway.
_REPORT_STEPS = 50


def train(
    model: keras.Model,
    train_data: Callable[[int], tf.data.Dataset],
    *,
    config: TrainConfig,
    strategy: Any,
    validation_data: tf.data.Dataset | None = None,
    user_weight: UserWeight = "impressions",
    log_dir: str | None = None,
    checkpoint_dir: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> TrainResult:
    """Trains a model for the configured number of epochs, or until it is at its best.

    Args:
        model: from a dict of inputs to logits float32 [B, 1], made under the
            strategy's scope. Its weights are changed in place.
        train_data: for the number of an epoch, from 0, its batches: (inputs by name,
            label float32 [B], weight float32 [B]), B rows of the global batch.
        config: epochs, optimizer, learning rate, early stopping.
        strategy: the distribution strategy.
        validation_data: batches of the same form, the user int64 [B] behind them where
            there are user ids; scored after each epoch.
        user_weight: what a user weighs in the GAUC of those.
        log_dir: folder for TensorBoard.
        checkpoint_dir: folder for a checkpoint of model and optimizer after each
            epoch; the last one is kept.
        on_progress: called every 50 steps and at the end of an epoch, and once more with
            the scores of its validation.

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
    stopping = EarlyStopping(config.validation, model)
    validation = None
    if validation_data is not None:
        capacity = config.validation.capacity
        validation = Validation(model, validation_data, capacity, user_weight)
    stopped = False
    try:
        for epoch in range(config.epochs):
            run.epoch(epoch, train_data(epoch))
            if validation is not None and run.examples:
                stopped = stopping.should_stop(run.validate(epoch, validation))
            if checkpoints is not None:
                checkpoints.save(checkpoint_number=epoch + 1)
            if stopped:
                break
        stopping.restore()
    finally:
        log.close()
    if not run.examples:
        raise RunError(
            "training: no rows in the train split; check the split and its shards"
        )
    return TrainResult(
        steps=run.steps,
        examples=run.examples,
        epochs=len(run.epoch_losses),
        final_loss=run.loss,
        seconds=run.watch.elapsed,
        input_wait_share=run.watch.wait_share,
        epoch_losses=tuple(run.epoch_losses),
        points=thinned(run.reports),
        validation=tuple(run.validation),
        best_epoch=stopping.best_epoch,
        stopped_early=stopped and len(run.epoch_losses) < config.epochs,
        notice=stopping.notice,
        traces=run.traces,
    )


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
        self.epoch_losses: list[float] = []
        self._epoch_loss, self._epoch_rows = 0.0, 0
        self.reports: list[Progress] = []
        self.validation: list[ValidationScores] = []

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
        self._epoch_loss, self._epoch_rows = 0.0, 0
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
        self.epoch_losses.append(self._epoch_loss / max(self._epoch_rows, 1))

    def validate(self, epoch: int, validation: Validation) -> ValidationScores:
        """Scores the model on the validation rows, and tells it."""
        scores = validation.measure(epoch + 1, self.epoch_losses[-1])
        self.validation.append(scores)
        self._log.scalars(scores.scalars(), self.steps)
        if self._on_progress is not None:
            self._on_progress(dataclasses.replace(self.reports[-1], validation=scores))
        return scores

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
        self._epoch_loss += self.loss * rows
        self._epoch_rows += rows
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
        self.reports.append(progress)
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

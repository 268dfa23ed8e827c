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

from components.batch_scaling import batch_scaling
from components.checkpoints import Checkpoints
from components.config import TrainConfig
from components.device_usage import DeviceUsage
from components.early_stopping import EarlyStopping
from components.metrics.names import UserWeight
from components.optimizer import make_optimizer
from components.profiler import Profiler
from components.scheduled_steps import ScheduledSteps
from components.training_channel import CHANNEL
from components.training_log import (
    Progress,
    Stopwatch,
    TensorBoardLog,
    mean_loss,
    thinned,
)
from components.training_result import TrainResult
from components.training_state import TrainingState
from components.training_step import StepReport, TrainingStep
from components.validation import Validation, ValidationScores
from components.worker_batches import WorkerBatches
from data.errors import RunError

# Steps between two looks at what the steps returned. A look waits for the device, so
# one at every step would keep an accelerator idle; the step at fault is found anyway.
_REPORT_STEPS = 50
# Waiting for input in an epoch that is worth a warning: seconds, and share of its time.
_LONG_WAIT = 5.0
_LARGE_SHARE = 0.2


def train(
    model: keras.Model,
    train_data: WorkerBatches,
    *,
    config: TrainConfig,
    strategy: Any,
    validation_data: tf.data.Dataset | None = None,
    user_weight: UserWeight = "impressions",
    log_dir: str | None = None,
    checkpoint_dir: str | None = None,
    is_chief: bool = True,
    on_progress: Callable[[Progress], None] | None = None,
) -> TrainResult:
    """Trains a model for the configured number of epochs, or until it is at its best.

    Where ``checkpoint_dir`` holds a checkpoint the training goes on from there: with
    the next batch, the optimizer's moments and all counters. The caller sees to it that
    the folder belongs to this data and configuration.

    Args:
        model: from a dict of inputs to logits float32 [B, 1], made under the
            strategy's scope. Its weights are changed in place.
        train_data: batches of an epoch for the replicas of one worker: (inputs by name,
            label float32 [B], weight float32 [B]); see ``components.worker_batches``.
        config: epochs, optimizer, learning rate, early stopping.
        strategy: the distribution strategy.
        validation_data: batches of the same form, the user int64 [B] behind them where
            there are user ids; scored after each epoch.
        user_weight: what a user weighs in the GAUC of those.
        log_dir: folder for TensorBoard.
        checkpoint_dir: folder for checkpoints, written every
            ``config.checkpoint_steps`` steps and after each epoch; none when None.
        is_chief: whether this process's checkpoints count; one of a cluster's do.
        on_progress: called every 50 steps, at a checkpoint and at the end of an epoch,
            and once more with the scores of its validation.

    Returns:
        Counts, the last loss and timing.

    Raises:
        RunError: the loss is not finite (step and input are named), or there are no
            training rows.
    """
    with strategy.scope():
        optimizer = make_optimizer(config)
        optimizer.build(model.trainable_variables)
    state = TrainingState()
    checkpoints = Checkpoints(checkpoint_dir, model, optimizer, state, writes=is_chief)
    if checkpoints.restore():
        CHANNEL.info("goes on from the checkpoint of step %s", f"{state.steps:,}")
    resumed_at = state.steps
    validation = None
    if validation_data is not None:
        capacity = config.validation.capacity
        validation = Validation(model, validation_data, capacity, user_weight)
    run = _Run(
        model,
        optimizer,
        strategy,
        state,
        config=config,
        log_dir=log_dir,
        checkpoints=checkpoints,
        on_progress=on_progress,
    )
    stopping = EarlyStopping(config.validation, state.best)
    try:
        while state.epoch < config.epochs and not state.stopped:
            run.epoch(train_data)
            if validation is not None and state.examples:
                scores = run.validate(validation)
                state.stopped = stopping.should_stop(scores)
                if state.best.epoch == scores.epoch:
                    checkpoints.keep_best(scores.epoch)
            run.save()
    finally:
        run.close()
    if not state.examples:
        raise RunError(
            "training: no rows in the train split; check the split and its shards"
        )
    if state.best.epoch is not None:
        checkpoints.restore_best(state.best.epoch)
    return TrainResult(
        steps=state.steps,
        examples=state.examples,
        epochs=len(state.epoch_losses),
        final_loss=state.loss,
        seconds=state.seconds,
        input_wait_share=state.wait_share,
        epoch_losses=tuple(state.epoch_losses),
        points=thinned(state.reports),
        validation=tuple(state.validation),
        best_epoch=state.best.epoch,
        stopped_early=state.stopped and len(state.epoch_losses) < config.epochs,
        notice=state.best.notice,
        traces=run.traces,
        resumed_at=resumed_at,
    )


class _Run:
    """The loop over the batches of an epoch."""

    def __init__(
        self,
        model: keras.Model,
        optimizer: Any,
        strategy: Any,
        state: TrainingState,
        *,
        config: TrainConfig,
        log_dir: str | None,
        checkpoints: Checkpoints,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._model, self._optimizer, self._strategy = model, optimizer, strategy
        self._state, self._config, self._checkpoints = state, config, checkpoints
        self._on_progress = on_progress
        self._log = TensorBoardLog(log_dir)
        self._profiler = Profiler(log_dir, config.profile_steps)
        self._devices = DeviceUsage()
        self._scaling = batch_scaling(config, strategy.num_replicas_in_sync)
        self._rate: float | None = None
        self._step: TrainingStep | None = None
        self._steps: TrainingStep | ScheduledSteps | None = None
        self._watch = Stopwatch(state.seconds)

    @property
    def traces(self) -> int:
        """How often the step was traced."""
        return self._step.traces if self._step else 0

    def epoch(self, train_data: WorkerBatches) -> None:
        """Trains on the batches of the running epoch that are not done."""
        state = self._state
        iterator = iter(self._batches(train_data))
        pending: list[Any] = []
        since = start = self._watch.elapsed
        waited = state.waited
        while (taken := self._take(iterator, len(pending))) is not None:
            pending.append(taken)
            done = state.steps + len(pending)
            at_checkpoint = done % self._config.checkpoint_steps == 0
            if at_checkpoint or len(pending) == _REPORT_STEPS:
                self._report(pending, since)
                pending = []
                if at_checkpoint:
                    self.save()
                since = self._watch.elapsed
        if pending:
            self._report(pending, since)
        self._warn(state.waited - waited, self._watch.elapsed - start)
        state.end_epoch()

    def validate(self, validation: Validation) -> ValidationScores:
        """Scores the model on the validation rows, and tells it."""
        state = self._state
        scores = validation.measure(state.epoch, state.epoch_losses[-1])
        state.validation.append(scores)
        self._log.scalars(scores.scalars(), state.steps)
        self._tell(dataclasses.replace(state.reports[-1], validation=scores))
        return scores

    def save(self) -> None:
        """Writes a checkpoint."""
        self._state.seconds = self._watch.elapsed
        self._checkpoints.save()

    def close(self) -> None:
        """Ends what writes for TensorBoard."""
        self._profiler.close()
        self._log.close()

    def _batches(self, train_data: WorkerBatches) -> Any:
        """What is left of the epoch, on the devices of the strategy."""
        state = self._state

        def left(context: tf.distribute.InputContext) -> tf.data.Dataset:
            replicas = context.num_replicas_in_sync // context.num_input_pipelines
            return train_data(state.epoch, context).skip(state.batches * replicas)

        is_scheduled = self._config.strategy == "parameter_server"
        batches = (
            left(tf.distribute.InputContext())
            if is_scheduled
            else self._strategy.distribute_datasets_from_function(left)
        )
        if self._step is None:
            self._step = TrainingStep(
                self._model,
                self._optimizer,
                self._strategy,
                batches.element_spec,
                self._config.clip_norm,
                self._config.deterministic,
            )
            self._steps = (
                ScheduledSteps(self._step, self._strategy, self._config.staleness)
                if is_scheduled
                else self._step
            )
        return batches

    def _take(self, iterator: Any, pending: int) -> Any:
        """Takes the next step; None at the end of the epoch."""
        assert self._steps is not None
        step = self._state.steps + pending
        self._profiler.at(step + 1)
        self._set_rate(self._scaling.rate(step, self._state.epoch))
        try:
            return self._steps.take(iterator)
        except (StopIteration, tf.errors.OutOfRangeError):
            return None

    def _set_rate(self, rate: float) -> None:
        """Sets the learning rate; a write to a variable, so only when it changes."""
        if rate != self._rate:
            self._optimizer.learning_rate = self._rate = rate

    def _report(self, pending: list[Any], since: float) -> None:
        """Looks at what some steps returned, and tells it."""
        assert self._steps is not None
        state = self._state
        reports = [self._steps.report(one) for one in pending]
        for number, report in enumerate(reports, start=state.steps + 1):
            if not np.isfinite(report.loss):
                raise _not_finite(report, number, state.epoch + 1)
        state.steps += len(reports)
        state.batches += len(reports)
        rows = sum(report.rows for report in reports)
        state.examples += rows
        state.loss = mean_loss(reports)
        state.epoch_loss += state.loss * rows
        state.epoch_rows += rows
        waited = sum(report.waited for report in reports)
        state.waited += waited
        seconds = max(self._watch.elapsed - since, 1e-9)
        progress = Progress(
            epoch=state.epoch + 1,
            epochs=self._config.epochs,
            step=state.steps,
            examples=state.examples,
            loss=state.loss,
            examples_per_second=rows / seconds,
            step_seconds=seconds / len(reports),
            input_wait_share=waited / seconds,
            gradient_norm=reports[-1].gradient_norm,
            learning_rate=self._scaling.rate(state.steps - 1, state.epoch),
            device_utilisation=self._devices.utilisation(),
        )
        state.reports.append(progress)
        self._log.progress(progress)
        self._tell(progress)

    def _warn(self, waited: float, seconds: float) -> None:
        """Says so where input bounds the training."""
        share = waited / max(seconds, 1e-9)
        if waited > _LONG_WAIT and share > _LARGE_SHARE:
            CHANNEL.warning(
                f"training: {share:.0%} of epoch {self._state.epoch + 1} was spent "
                "waiting for input; `ctr profile` measures which settings help. Shards "
                "on slow storage: train.staging; rows that cost much to read: "
                "packing.compression none"
            )

    def _tell(self, progress: Progress) -> None:
        """Hands a report to whoever watches."""
        CHANNEL.info(progress.line())
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

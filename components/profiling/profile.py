"""The profile of a training: stages, step, loop, verdict and advice."""

import functools
import os
import tempfile
from collections.abc import Callable, Mapping

import tensorflow as tf

from components.packed_input_fn import damage_named
from components.profiling.advice import best
from components.profiling.candidates import candidates, race
from components.profiling.recipe import recipe_batches, write_rows
from components.profiling.report import ProfileReport, RecipeCost
from components.profiling.sample import first_shards, row_count, uncompressed
from components.profiling.stages import batches, copies, differences, pipelines
from components.profiling.timing import Cost, Work, interleaved
from components.profiling.training import Training, accelerator
from components.profiling.verdict import Verdict, on_accelerator, on_shared_cores
from components.record_source import compression_of
from components.training_rows import TrainingRows
from data.errors import DataError
from models.config import ModelConfig

# Enough that a window of the shuffling does not hold them all, and few enough to copy.
_SAMPLE = 1 << 20
# A tf.Example a row costs a microsecond a value to write.
_COMPARED = 1 << 16


def profile(
    rows: TrainingRows,
    model: ModelConfig,
    *,
    seconds: float,
    compare: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> ProfileReport:
    """Measures where the time of a training goes on this machine.

    One device is measured, whatever ``train.strategy`` says.

    Args:
        rows: what the training reads.
        model: the network.
        seconds: of each measurement.
        compare: also measure the input pipeline of tutorials.
        tell: hears what is measured.

    Returns:
        Costs, verdict and advice.

    Raises:
        DataError: there are no rows, or a shard is damaged.
    """
    if not row_count(rows):
        raise DataError("profile: no rows in the train split; check split and shards")
    sample = first_shards(rows, _SAMPLE)
    with (
        damage_named(sample.files),
        tempfile.TemporaryDirectory(prefix="ctr-profile-") as folder,
    ):
        tell("copying shards")
        plain = uncompressed(sample, folder) if _is_compressed(sample) else None
        tell("building the model")
        training = Training(sample, model, sample.config.precision)
        tell("stages and step")
        costs = interleaved(_works(sample, plain, training), seconds)
        tell("loop and changes")
        device = accelerator()
        changes = candidates(sample, plain, training, model, device is not None)
        loop, tried = race(sample, training, changes, seconds)
        if compare:
            tell("the published recipe")
        recipe = _compared(sample, folder, seconds) if compare else None
    cores = len(os.sched_getaffinity(0))
    return ProfileReport(
        rows=row_count(rows),
        sample_rows=row_count(sample),
        batch_size=sample.config.batch_size,
        cores=cores,
        accelerator=device,
        stages=differences(costs),
        reading=costs["input"],
        copy=costs.get("copy"),
        step=costs["step"],
        loop=loop,
        verdict=_verdict(costs, loop.wait_share, cores),
        tried=tuple(tried),
        advice=tuple(best(tried)),
        recipe=recipe,
    )


def _works(
    rows: TrainingRows, plain: TrainingRows | None, training: Training
) -> dict[str, Work]:
    """What is measured on its own."""
    works = pipelines(rows, plain)
    batch = next(iter(rows.epoch(0)))
    device = accelerator()
    if device is not None:
        works["copy"] = functools.partial(copies, batch, device)
        with tf.device(device):
            batch = tf.nest.map_structure(tf.identity, batch)
    return works | {"step": functools.partial(training.steps, batch)}


def _verdict(costs: Mapping[str, Cost], wait_share: float, cores: int) -> Verdict:
    """Judges by what the machine has."""
    reading, step = costs["input"], costs["step"]
    if "copy" in costs:  # Nothing but an accelerator is copied to.
        return on_accelerator(reading, step, wait_share)
    return on_shared_cores(reading, step, cores)


def _compared(rows: TrainingRows, folder: str, seconds: float) -> RecipeCost:
    """Costs of the same rows by the published recipe and by the training's reader."""
    part = first_shards(rows, _COMPARED)
    files = write_rows(part, folder)
    costs = interleaved(
        {
            "recipe": recipe_batches(part, files),
            "ours": batches(part),
        },
        seconds,
    )
    return RecipeCost(rows=row_count(part), recipe=costs["recipe"], ours=costs["ours"])


def _is_compressed(rows: TrainingRows) -> bool:
    """Whether the shards are stored compressed."""
    return compression_of(rows.train.files[0]) != ""

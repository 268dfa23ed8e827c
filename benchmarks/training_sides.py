"""The sides of the training benchmark, each timed over the same kind of steps."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from benchmarks.input import recipe_rows
from benchmarks.input_files import LABEL
from benchmarks.training_model import make_model, read_inputs
from components import packed_input_fn
from components.config import TrainConfig
from components.strategy import make_strategy
from components.training_log import Progress
from components.training_loop import train
from components.worker_batches import by_rows
from models.sparse_optimizers import RowSparseAdam

BATCH = 1024


@dataclasses.dataclass(frozen=True)
class _Mark:
    """Clocks at a report, and what was waited for input since the one before.

    Attributes:
        step: steps done.
        wall: seconds on the wall clock.
        cpu: CPU seconds of the process.
        waited: seconds.
    """

    step: int
    wall: float
    cpu: float
    waited: float


def ours(files: list[str], schema: str, rows: int) -> dict[str, float]:
    """Our loop on packed shards; the first of two epochs is the warm-up.

    Args:
        files: packed shards.
        schema: their schema.
        rows: rows of all shards.

    Returns:
        ``examples_per_second`` and ``cpu_us`` an example; ``wait_share`` of the epoch
        and ``steady_wait_share`` after its first report, when the shuffling window is
        full.
    """

    def read(epoch: int) -> tf.data.Dataset:
        return packed_input_fn.dataset(
            files,
            read_inputs(schema),
            LABEL,
            batch_size=BATCH,
            shuffle_rows=TrainConfig().shuffle_rows,
            epoch=epoch,
        )

    return _in_our_loop(read, schema, rows)


def cached(files: list[str], schema: str, rows: int) -> dict[str, float]:
    """Our loop on one batch over and over: what the step alone takes."""
    first = packed_input_fn.dataset(
        files, read_inputs(schema), LABEL, batch_size=BATCH
    ).take(1)
    batches = first.cache().repeat(rows // BATCH)
    return _in_our_loop(lambda _: batches, schema, rows // BATCH * BATCH)


def _in_our_loop(
    read: Callable[[int], tf.data.Dataset], schema: str, rows: int
) -> dict[str, float]:
    """Times the second epoch of a training."""
    marks = [_Mark(0, 0.0, 0.0, 0.0)]

    def mark(one: Progress) -> None:
        seconds = one.step_seconds * (one.step - marks[-1].step)
        waited = one.input_wait_share * seconds
        marks.append(_Mark(one.step, time.perf_counter(), time.process_time(), waited))

    train(
        make_model(schema),
        by_rows(read),
        config=TrainConfig(epochs=2, batch_size=BATCH),
        strategy=make_strategy("default"),
        on_progress=mark,
    )
    steps = marks[-1].step // 2
    start, first, *rest = [one for one in marks if one.step >= steps]
    seconds = rest[-1].wall - start.wall
    return {
        "examples_per_second": rows / seconds,
        "cpu_us": (rest[-1].cpu - start.cpu) / rows * 1e6,
        "wait_share": sum(one.waited for one in [first, *rest]) / seconds,
        "steady_wait_share": sum(one.waited for one in rest)
        / (rest[-1].wall - first.wall),
    }


def recipe(files: list[str], schema: str, steps: int) -> dict[str, float]:
    """The published recipe, Keras ``fit`` and Keras' Adam."""
    return _fit(files, schema, steps, keras.optimizers.Adam(0.001))


def recipe_row_sparse(files: list[str], schema: str, steps: int) -> dict[str, float]:
    """The recipe with our optimizer, so that input and optimizer are told apart."""
    return _fit(files, schema, steps, RowSparseAdam(0.001))


def _fit(files: list[str], schema: str, steps: int, optimizer: Any) -> dict[str, float]:
    """Times the second of two epochs of ``steps`` batches."""
    model = make_model(schema)
    model.compile(optimizer, keras.losses.BinaryCrossentropy(from_logits=True))
    marks: list[tuple[float, float]] = []
    mark = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda *_: marks.append((time.perf_counter(), time.process_time()))
    )
    model.fit(
        recipe_batches(files, schema),
        epochs=2,
        steps_per_epoch=steps,
        verbose=0,
        callbacks=[mark],
    )
    (wall, cpu), (end_wall, end_cpu) = marks
    return {
        "examples_per_second": steps * BATCH / (end_wall - wall),
        "cpu_us": (end_cpu - cpu) / (steps * BATCH) * 1e6,
    }


def recipe_batches(files: list[str], schema: str) -> tf.data.Dataset:
    """Batches as tutorials make them, over and over: (inputs by name, label [B])."""
    rows, shapes = recipe_rows(files, read_inputs(schema))
    rows = rows.repeat()
    has_lists = schema == "wide"
    batches = rows.padded_batch(BATCH, shapes) if has_lists else rows.batch(BATCH)
    return batches.map(_with_label).prefetch(tf.data.AUTOTUNE)


def _with_label(columns: dict[str, tf.Tensor]) -> tuple[dict[str, tf.Tensor], Any]:
    """Splits the label off."""
    label = columns.pop(LABEL)
    return columns, label

"""A training step over 26 embedding tables, with either Adam."""

import itertools
import time
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from components.config import TrainConfig
from components.optimizer import make_optimizer
from components.strategy import make_strategy
from components.training_step import TrainingStep
from data.inputs import ModelInput
from models.config import ModelConfig
from models.registry import build

TABLES = 26
MODEL = ModelConfig(embedding_dim=16, cross_layers=1, hidden=(32,))
OPTIMIZERS = ("row_sparse", "keras")
PLACEMENTS = ("first", "spread")
DISTINCT = 5_000
_BATCHES = 8
_WARM_UP = 3


def make_step(optimizer: str, inputs: tuple[ModelInput, ...], rate: float) -> Any:
    """Makes the network and its compiled step; the network depends on Keras' seed.

    Args:
        optimizer: ``row_sparse``, as the Trainer takes it, or ``keras``: Keras' Adam.
        inputs: what the network reads.
        rate: learning rate.

    Returns:
        The network and its ``TrainingStep``.
    """
    model = build(MODEL, inputs)
    adam = (
        make_optimizer(TrainConfig(learning_rate=rate))
        if optimizer == "row_sparse"
        else keras.optimizers.Adam(rate)
    )
    adam.build(model.trainable_variables)
    floats = tf.TensorSpec((None,), tf.float32)
    ids = {one.name: tf.TensorSpec((None,), tf.int64) for one in inputs}
    spec = (ids, floats, floats)
    return model, TrainingStep(model, adam, make_strategy("default"), spec)


class TimedStep:
    """A step on random ids, timed over and over.

    A batch draws its ids from ``DISTINCT`` ones at most, so that it touches equally many
    rows of a table of any size. They are the first ones, as a vocabulary numbers frequent
    values (``first``), or lie all over the table, as hashing places them (``spread``).

    Args:
        optimizer: one of ``OPTIMIZERS``.
        table_rows: rows of each table, without row 0.
        batch: rows of a batch.
    """

    def __init__(self, optimizer: str, table_rows: int, batch: int) -> None:
        inputs = tuple(
            ModelInput(name=one, kind="id", table=one, vocabulary_size=table_rows + 1)
            for one in (f"id_{number:02d}" for number in range(TABLES))
        )
        _, self._step = make_step(optimizer, inputs, 0.001)
        distinct = min(DISTINCT, table_rows)
        self._batches = {
            "first": _batches(inputs, batch, distinct, 1),
            "spread": _batches(inputs, batch, distinct, table_rows // distinct),
        }
        self.timed(_WARM_UP)

    def timed(self, steps: int, placement: str = "spread") -> dict[str, float]:
        """Does some steps.

        Args:
            steps: how many.
            placement: one of ``PLACEMENTS``.

        Returns:
            CPU and wall milliseconds a step.
        """
        batches = itertools.cycle(self._batches[placement])
        wall, cpu = time.perf_counter(), time.process_time()
        for batch in itertools.islice(batches, steps):
            np.asarray(self._step(batch))
        return {
            "cpu_ms": (time.process_time() - cpu) / steps * 1e3,
            "wall_ms": (time.perf_counter() - wall) / steps * 1e3,
        }


def _batches(
    inputs: tuple[ModelInput, ...], rows: int, distinct: int, spread: int
) -> list[Any]:
    """Batches whose ids are ``1 + spread * k`` for k below ``distinct``."""
    random = np.random.default_rng(0)
    return [
        (
            {
                one.name: tf.constant(1 + spread * random.integers(0, distinct, rows))
                for one in inputs
            },
            tf.constant((random.random(rows) < 0.05).astype(np.float32)),
            tf.ones(rows),
        )
        for _ in range(_BATCHES)
    ]

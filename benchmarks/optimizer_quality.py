"""What a network ranks after training with either Adam, on simulated clicks.

The log has few users with many rows each and strong tastes, which only the embeddings
of users and items can hold. The last day is scored.
"""

import keras
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import tensorflow as tf
from numpy.typing import NDArray

from benchmarks.optimizer_step import make_step
from components.metrics.columns import Columns
from components.metrics.slice_metrics import evaluate_rows
from data.inputs import ModelInput
from data.simulator.config import SimulatorConfig
from data.simulator.log import simulate

FEATURES = ("user_id", "item_id", "category", "device", "hour", "position")
BATCH = 1024
# Chosen on another seed: after these both have stopped gaining. Where a training ends
# earlier, the optimizer that leaves the flat start sooner is ahead.
EPOCHS = 6
LEARNING_RATE = 0.006
_DAYS = 8
_ROWS_A_USER = 200

Ints = NDArray[np.int64]


def simulated(rows: int, seed: int) -> tuple[dict[str, Ints], Ints]:
    """Draws a log.

    Args:
        rows: impressions in all.
        seed: of the log.

    Returns:
        Ids from 1 by feature, int64 [rows], and clicks int64 [rows], by time.
    """
    config = SimulatorConfig(
        rows=rows,
        users=rows // _ROWS_A_USER,
        days=_DAYS,
        seed=seed,
        click_rate=0.1,
        taste_std=1.5,
    )
    table = pa.Table.from_batches(simulate(config)).combine_chunks()
    ids = {
        name: 1
        + table[name]
        .combine_chunks()
        .dictionary_encode()
        .indices.to_numpy()
        .astype(np.int64)
        for name in FEATURES
    }
    return ids, pc.cast(table["click"], pa.int64()).to_numpy()


def quality(optimizer: str, ids: dict[str, Ints], clicks: Ints, seed: int) -> Columns:
    """Trains on all days but the last and scores that one.

    Args:
        optimizer: ``row_sparse`` or ``keras``.
        ids: int64 [rows] by feature.
        clicks: int64 [rows].
        seed: of weights and order.

    Returns:
        Users, clicks and scores of the last day.
    """
    inputs = tuple(
        ModelInput(
            name=name, kind="id", table=name, vocabulary_size=int(values.max()) + 1
        )
        for name, values in ids.items()
    )
    keras.utils.set_random_seed(seed)
    model, step = make_step(optimizer, inputs, LEARNING_RATE)
    train = len(clicks) * (_DAYS - 1) // _DAYS
    random = np.random.default_rng(seed)
    labels = clicks.astype(np.float32)
    for _ in range(EPOCHS):
        order = random.permutation(train)
        for start in range(0, train, BATCH):
            rows = order[start : start + BATCH]
            batch = {name: tf.constant(values[rows]) for name, values in ids.items()}
            step((batch, tf.constant(labels[rows]), tf.ones(len(rows))))
    held_out = {name: values[train:] for name, values in ids.items()}
    logits = model.predict(held_out, batch_size=8192, verbose=0)[:, 0]
    return Columns(
        ids["user_id"][train:], clicks[train:] == 1, logits.astype(np.float64)
    )


def ranks(scored: Columns) -> dict[str, float]:
    """AUC and GAUC of scored rows."""
    metrics = evaluate_rows(scored, "impressions").metrics
    values = {name: metrics[name].value for name in ("auc", "gauc")}
    return {name: float("nan") if one is None else one for name, one in values.items()}

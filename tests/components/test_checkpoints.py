"""Training that is killed goes on where it was."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from components.checkpoints import Checkpoints
from components.config import TrainConfig
from components.early_stopping import Best
from components.optimizer import make_optimizer
from components.training_log import Progress
from components.training_state import TrainingState
from components.validation import ValidationScores

ROWS, BATCH, EPOCHS = 430, 20, 3
STEPS = EPOCHS * 22  # 21 whole batches and one of 10 rows

# Trains; kills itself at a step if told to, and writes the weights when it ends.
TRAINING = f"""
import json, os, signal, sys
import keras
import numpy as np
import tensorflow as tf
from components import training_loop
from components.config import TrainConfig
from components.strategy import make_strategy
from components.training_step import TrainingStep
from components.worker_batches import by_rows
from data.inputs import ModelInput
from models.config import ModelConfig
from models.registry import build

folder, kill_at, optimizer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
tf.config.experimental.enable_op_determinism()
keras.utils.set_random_seed(3)
inputs = (
    ModelInput(name="item", kind="id", table="item", vocabulary_size=50),
    ModelInput(name="history", kind="ids", length=4, table="item", vocabulary_size=50),
    ModelInput(name="price", kind="number"),
)
random = np.random.default_rng(0)
rows = (
    dict(
        item=random.integers(1, 50, {ROWS}),
        history=random.integers(0, 50, ({ROWS}, 4)),
        price=random.normal(size={ROWS}).astype(np.float32),
    ),
    (random.random({ROWS}) < 0.3).astype(np.float32),
    np.ones({ROWS}, np.float32),
)
whole = tf.data.Dataset.from_tensor_slices(rows)
held_out = tf.data.Dataset.from_tensor_slices((*rows, np.arange({ROWS}) % 40)).batch(64)

take = TrainingStep.take
def counted(step, iterator, count=[0]):
    count[0] += 1
    if count[0] == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return take(step, iterator)
TrainingStep.take = counted

# Dropout draws random numbers, whose state must come back, too.
model = build(ModelConfig(name="deepfm", embedding_dim=4, dropout=0.2), inputs)
result = training_loop.train(
    model,
    by_rows(lambda epoch: whole.shuffle({ROWS}, seed=epoch).batch({BATCH})),
    config=TrainConfig(
        epochs={EPOCHS}, optimizer=optimizer, learning_rate=0.01, warmup_steps=30,
        learning_rate_decay=0.5, checkpoint_steps=9, deterministic=True,
        validation=dict(monitor="log_loss", patience=3),
    ),
    strategy=make_strategy("default"),
    validation_data=held_out,
    checkpoint_dir=folder,
)
np.savez(folder + ".npz", *[keras.ops.convert_to_numpy(w) for w in model.weights])
with open(folder + ".json", "w") as file:
    json.dump(result.to_json(), file)
"""


def run(folder, kill_at=0, optimizer="adam"):
    return subprocess.run(
        [sys.executable, "-c", TRAINING, str(folder), str(kill_at), optimizer],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def outcome(folder):
    with np.load(f"{folder}.npz") as weights:
        arrays = [weights[name] for name in weights.files]
    return arrays, json.loads(Path(f"{folder}.json").read_text())


@pytest.mark.slow
def test_a_killed_training_ends_with_the_same_bits(tmp_path):
    whole = run(tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr[-2000:]
    weights, result = outcome(tmp_path / "whole")
    assert (result["steps"], result["resumed_at"]) == (STEPS, 0)

    # Before the first checkpoint, between two, and, in the process that goes on from
    # step 45, again: at its second step.
    folder = tmp_path / "killed"
    for kill_at, done in ((4, 0), (31, 27), (23, 45), (2, 45)):
        killed = run(folder, kill_at)
        assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
        written = sorted(
            int(one.stem.split("-")[1]) for one in folder.glob("ckpt-*.index")
        )
        assert written[-1:] == ([done] if done else [])
    ended = run(folder)
    assert ended.returncode == 0, ended.stderr[-2000:]

    again, resumed = outcome(folder)
    assert resumed["resumed_at"] == 45
    for one, other in zip(weights, again, strict=True):
        np.testing.assert_array_equal(one, other)
    told = (
        "steps",
        "examples",
        "final_loss",
        "epoch_losses",
        "validation",
        "best_epoch",
    )
    assert {name: resumed[name] for name in told} == {
        name: result[name] for name in told
    }


def test_the_state_survives_as_text():
    state = TrainingState(
        epoch=1,
        batches=7,
        steps=29,
        loss=0.45,
        epoch_losses=[0.5],
        reports=[Progress(1, 2, 22, 430, 0.5, 1.0, 0.1, 0.0, 1.5, 0.01)],
        validation=[
            ValidationScores(1, 0.5, 0.4, None, 1.1, False, (0.5, 0.6)),
        ],
        best=Best(epoch=1, value=-0.4),
    )
    again = TrainingState()

    again.load(state.to_json())

    assert again == state
    assert again.best.reference == -np.inf


def parts(folder, **settings):
    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
    optimizer = make_optimizer(TrainConfig())
    optimizer.build(model.trainable_variables)
    state = TrainingState()
    return model, state, Checkpoints(str(folder), model, optimizer, state, **settings)


def test_the_best_weights_come_back_and_older_ones_go(tmp_path):
    model, state, checkpoints = parts(tmp_path)
    for epoch in (1, 2, 3):
        model.set_weights([np.full((2, 1), epoch), np.zeros(1)])
        if epoch != 3:
            checkpoints.keep_best(epoch)
            state.best.epoch = epoch
        state.steps += 10
        checkpoints.save()

    assert {one.name.split(".")[0] for one in tmp_path.glob("best-*")} == {"best-2"}
    assert {one.name.split(".")[0] for one in tmp_path.glob("ckpt-*")} == {"ckpt-30"}
    again, found, restored = parts(tmp_path)
    assert restored.restore()
    assert (found.steps, again.get_weights()[0][0, 0]) == (30, 3)
    restored.restore_best(found.best.epoch)
    assert again.get_weights()[0][0, 0] == 2
    restored.remove()
    assert not tmp_path.exists()


def test_a_worker_that_is_not_the_chief_leaves_nothing_and_reads_the_chiefs(tmp_path):
    _, state, checkpoints = parts(tmp_path)
    _, _, worker = parts(tmp_path, writes=False)

    worker.save()
    assert not list(tmp_path.iterdir())
    assert not worker.restore()
    state.steps = 5
    checkpoints.save()
    assert worker.restore()
    worker.remove()
    assert list(tmp_path.glob("ckpt-5*"))

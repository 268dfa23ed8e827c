"""Strategies; two replicas run in a process of their own, whose CPU is split in two."""

import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

from components.strategy import make_strategy
from data.errors import RunError

TWO_REPLICAS = """
import sys
import keras
import numpy as np
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from components.config import TrainConfig
from components.strategy import make_strategy
from components.training_loop import train
from data.inputs import ModelInput
from models.config import ModelConfig
from models.registry import build

inputs = (
    ModelInput(name="item", kind="id", table="item", vocabulary_size=30),
    ModelInput(name="list", kind="ids", length=3, table="item", vocabulary_size=30),
)
random = np.random.default_rng(0)
features = {
    "item": random.integers(0, 30, 501), "list": random.integers(0, 30, (501, 3))
}
label = (features["item"] % 2).astype(np.float32)
weight = random.integers(0, 3, 501).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((features, label, weight)).batch(100)
user = random.integers(0, 40, 501)
held_out = (features, 1 - label, weight, user)
held_out = tf.data.Dataset.from_tensor_slices(held_out).batch(100)
for optimizer in ("sgd", "adam", "adagrad"):
    weights, scores = [], []
    for strategy in (
        make_strategy("default"), make_strategy("mirrored", ("CPU:0", "CPU:1"))
    ):
        keras.utils.set_random_seed(0)
        with strategy.scope():
            config = ModelConfig(name="dcn_v2", embedding_l2=0.1, embedding_dim=4)
            model = build(config, inputs)
        # Patient enough not to stop, but the best epoch's weights come back.
        validation = {"monitor": "log_loss", "patience": 3}
        config = TrainConfig(
            epochs=3, optimizer=optimizer, learning_rate=0.01, validation=validation
        )
        result = train(
            model, lambda _: data, config=config, strategy=strategy,
            validation_data=held_out,
        )
        assert result.best_epoch == 1, result
        scores.append([(one.log_loss, one.gauc, one.pcop) for one in result.validation])
        assert result.steps == 18 and result.examples == 3 * 501, result
        assert result.traces == 1, result
        weights.append([np.asarray(keras.ops.convert_to_numpy(w)) for w in model.weights])
    for one, two in zip(*weights):
        np.testing.assert_allclose(one, two, atol=1e-4)
    np.testing.assert_allclose(*scores, atol=1e-3)
assert strategy.num_replicas_in_sync == 2
"""


def test_default_is_one_replica():
    assert make_strategy("default").num_replicas_in_sync == 1


def test_mirrored_takes_the_only_device_where_there_is_no_accelerator():
    strategy = make_strategy("mirrored")

    assert isinstance(strategy, tf.distribute.MirroredStrategy)
    assert strategy.num_replicas_in_sync >= 1


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(RunError, match=r"'miror'.*Did you mean 'mirrored'"):
        make_strategy("miror")


@pytest.mark.slow
def test_two_replicas_train_to_the_weights_of_one_device():
    subprocess.run(
        [sys.executable, "-c", TWO_REPLICAS],
        check=True,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=300,
    )

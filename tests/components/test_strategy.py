"""Strategies; two replicas run in a process of their own, whose CPU is split in two."""

import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from components import training_step
from components.cluster.tasks import Cluster
from components.config import TrainConfig
from components.optimizer import make_optimizer
from components.strategy import make_strategy, meet_again
from components.strategy_rules import check_strategy
from components.training_step import TrainingStep
from data.errors import ConfigError, RunError
from data.inputs import ModelInput
from models import embedding_table
from models.config import ModelConfig
from models.registry import build

INPUTS = (
    ModelInput(name="item", kind="id", table="item", vocabulary_size=30),
    ModelInput(name="list", kind="ids", length=3, table="item", vocabulary_size=30),
    ModelInput(name="price", kind="number"),
)
WORKERS = Cluster({"worker": ("a:1", "b:1")}, "worker", 0)
SERVERS = Cluster({"chief": ("c:1",), "ps": ("p:1",), "worker": ("a:1",)}, "chief", 0)

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
from components.worker_batches import by_rows
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
        make_strategy("default"),
        make_strategy("mirrored", devices=("CPU:0", "CPU:1")),
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
            model, by_rows(lambda _: data), config=config, strategy=strategy,
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
    with pytest.raises(ConfigError, match=r"'miror'.*Did you mean 'mirrored'"):
        make_strategy("miror")


@pytest.mark.parametrize(
    ("name", "cluster", "parts"),
    [
        ("multi_worker_mirrored", None, ["found none", "set TF_CONFIG"]),
        ("parameter_server", None, ["found none", "set TF_CONFIG"]),
        ("multi_worker_mirrored", SERVERS, ["no use for ps", "take parameter_server"]),
        ("parameter_server", WORKERS, ["needs a chief and ps", "2 worker"]),
    ],
)
def test_a_strategy_that_does_not_go_with_the_cluster_is_refused(name, cluster, parts):
    with pytest.raises(ConfigError) as caught:
        make_strategy(name, cluster)

    (line,) = str(caught.value).splitlines()
    assert all(part in line for part in [f"train.strategy: {name} ", *parts]), line


def test_a_cluster_that_is_not_used_is_warned_of(caplog):
    assert make_strategy("default", WORKERS).num_replicas_in_sync == 1

    (record,) = caplog.records
    assert "default does not use the cluster of TF_CONFIG" in record.getMessage()


def test_a_strategy_that_goes_with_its_cluster_needs_no_warning():
    assert check_strategy("multi_worker_mirrored", WORKERS) is None
    assert check_strategy("parameter_server", SERVERS) is None
    assert check_strategy("mirrored", None) is None


def test_without_a_tpu_the_error_says_so(monkeypatch):
    def no_tpu(name):
        raise ValueError(f"no TPU {name}\nand more")

    monkeypatch.setattr(tf.distribute.cluster_resolver, "TPUClusterResolver", no_tpu)
    monkeypatch.delenv("TPU_NAME", raising=False)

    with pytest.raises(RunError, match=r"no TPU found \(no TPU local\); run on a TPU"):
        make_strategy("tpu")


def test_one_process_meets_nobody_again():
    meet_again(make_strategy("default"))


@pytest.mark.slow
def test_two_replicas_train_to_the_weights_of_one_device():
    subprocess.run(
        [sys.executable, "-c", TWO_REPLICAS],
        check=True,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=300,
    )


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
def test_xla_compiles_the_step_of_a_tpu_and_it_trains_the_same(monkeypatch, optimizer):
    """No TPU here: the graph that one would get, compiled for the CPU."""
    random = np.random.default_rng(0)
    batch = (
        {
            "item": tf.constant(random.integers(0, 30, 64)),
            "list": tf.constant(random.integers(0, 30, (64, 3))),
            "price": tf.constant(random.normal(size=64), tf.float32),
        },
        tf.constant(random.random(64) < 0.4, tf.float32),
        tf.ones([64]),
    )
    results = []
    for static in (False, True):
        for module in (training_step, embedding_table):
            monkeypatch.setattr(module, "needs_static_shapes", lambda on=static: on)
        keras.utils.set_random_seed(0)
        model = build(
            ModelConfig(name="dcn_v2", embedding_l2=0.1, embedding_dim=4), INPUTS
        )
        chosen = make_optimizer(TrainConfig(optimizer=optimizer, learning_rate=0.1))
        chosen.build(model.trainable_variables)
        spec = tf.nest.map_structure(
            lambda one: tf.TensorSpec([None, *one.shape[1:]], one.dtype), batch
        )
        step = TrainingStep(model, chosen, make_strategy("default"), spec, 1.0)
        run = tf.function(step.function, jit_compile=static)
        report = step.report((run(*batch), None))
        weights = [weight.numpy() for weight in model.trainable_variables]
        results.append((report.loss, report.gradient_norm, *weights))

    # Rows that the batch does not touch: the dense update of a first step leaves them.
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)

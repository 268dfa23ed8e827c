"""Strategies over several processes train as one device does."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import portpicker
import pytest

REPOSITORY = Path(__file__).parents[2]
ROWS, BATCH, STEPS = 1600, 32, 50

# Trains on shards of uneven size; writes the loss of each step.
TRAINING = f"""
import json, os, sys
import keras
import numpy as np
import tensorflow as tf
from components import training_loop
from components.cluster.discovery import find_cluster
from components.cluster.server import serve
from components.config import TrainConfig
from components.strategy import make_strategy, meet_again
from components.worker_batches import by_files, by_rows
from data.inputs import ModelInput
from models.config import ModelConfig
from models.registry import build

name, read_by, output = sys.argv[1:]
cluster = find_cluster(os.environ)
if cluster is not None and cluster.is_server:
    serve(cluster, 60)
    sys.exit()
strategy = make_strategy(name, cluster, timeout=60)
# A report after each step.
training_loop._REPORT_STEPS = 1
inputs = (
    ModelInput(name="item", kind="id", table="item", vocabulary_size=30),
    ModelInput(name="list", kind="ids", length=3, table="item", vocabulary_size=30),
)
random = np.random.default_rng(0)
features = dict(
    item=random.integers(0, 30, {ROWS}), list=random.integers(0, 30, ({ROWS}, 3))
)
label = (features["item"] % 2).astype(np.float32)
weight = random.integers(0, 3, {ROWS}).astype(np.float32)
sizes = dict(a=1200, b=0, c=390, d=10)
starts = dict(a=0, b=1200, c=1200, d=1590)

def read(_, files, size):
    rows = np.concatenate([np.arange(sizes[one]) + starts[one] for one in files])
    part = (dict((k, v[rows]) for k, v in features.items()), label[rows], weight[rows])
    return tf.data.Dataset.from_tensor_slices(part).batch(size)

keras.utils.set_random_seed(0)
partitions = len(cluster.addresses.get("ps", "1")) if cluster else 1
with strategy.scope():
    config = ModelConfig(name="dcn_v2", embedding_l2=0.1, embedding_dim=4)
    model = build(config, inputs, table_partitions=partitions)
stale = dict(staleness=0) if name == "parameter_server" else dict()
seen = []
result = training_loop.train(
    model,
    by_files(list(sizes.items()), {BATCH}, read) if read_by == "files"
    else by_rows(lambda epoch: read(epoch, list(sizes), {BATCH})),
    config=TrainConfig(
        optimizer="sgd", learning_rate=0.5, strategy=name, clip_norm=0.5, **stale
    ),
    strategy=strategy,
    on_progress=seen.append,
    checkpoint_dir=output + ".checkpoints",
    is_chief=cluster is None or cluster.is_chief,
)
losses = [one.loss for one in seen]
weights = [np.asarray(keras.ops.convert_to_numpy(w)).tolist() for w in model.weights]
meet_again(strategy)
with open(output, "w") as file:
    json.dump(dict(losses=losses, weights=weights, examples=result.examples), file)
"""


def run(folder, strategy, tasks, read_by="rows"):
    """Starts a process for each (type, index); returns what they wrote."""
    addresses = {}
    for kind, _ in tasks:
        port = portpicker.pick_unused_port()
        addresses.setdefault(kind, []).append(f"127.0.0.1:{port}")
    processes, outputs = [], []
    for kind, index in tasks or [("alone", 0)]:
        task = {"type": kind, "index": index}
        environment = {"PATH": "/usr/bin:/bin", "TF_CPP_MIN_LOG_LEVEL": "2"}
        if tasks:
            environment["TF_CONFIG"] = json.dumps({"cluster": addresses, "task": task})
        outputs.append(folder / f"{strategy}-{read_by}-{kind}-{index}.json")
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", TRAINING, strategy, read_by, outputs[-1]],
                cwd=REPOSITORY,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    try:
        for process in processes:
            text, _ = process.communicate(timeout=300)
            assert process.returncode == 0, text[-3000:]
    finally:
        for process in processes:
            process.kill()
    return [json.loads(one.read_text()) for one in outputs if one.exists()]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    (result,) = run(tmp_path_factory.mktemp("alone"), "default", [])
    assert (len(result["losses"]), result["examples"]) == (STEPS, ROWS)
    return result


@pytest.mark.slow
def test_two_workers_in_step_follow_the_curve_of_one_device(alone, tmp_path):
    tasks = [("worker", 0), ("worker", 1)]
    for result in run(tmp_path, "multi_worker_mirrored", tasks):
        np.testing.assert_allclose(result["losses"], alone["losses"], atol=1e-4)
        assert result["examples"] == ROWS
        for one, other in zip(result["weights"], alone["weights"], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
def test_workers_with_shards_of_their_own_lose_no_row_and_end(workers, tmp_path):
    """1,200, 0, 390 and 10 rows: the second worker has a third of the first one's."""
    tasks = [("worker", index) for index in range(workers)]
    results = run(tmp_path, "multi_worker_mirrored", tasks, "files")

    steps = -(-1200 // (BATCH // workers))  # of the worker with the largest shard
    for result in results:
        assert (result["examples"], len(result["losses"])) == (ROWS, steps)
        assert result["losses"] == results[0]["losses"]


@pytest.mark.slow
def test_parameter_servers_follow_the_curve_of_one_device(alone, tmp_path):
    tasks = [("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0), ("ps", 1)]
    (result,) = run(tmp_path, "parameter_server", tasks)

    np.testing.assert_allclose(result["losses"], alone["losses"], atol=1e-4)
    assert result["examples"] == ROWS

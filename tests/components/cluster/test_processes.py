"""Real clusters on the loopback: processes that meet, compute, are lost and end."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# Argument: the index of the worker that kills itself, or nothing.
COLLECTIVE = """
import os, signal, sys
from components.cluster.discovery import find_cluster
from components.cluster.lost import ClusterLostError, cluster_losses
from components.strategy import make_strategy, meet_again
cluster = find_cluster(os.environ)
strategy = make_strategy("multi_worker_mirrored", cluster, timeout=120)
import tensorflow as tf

@tf.function
def step():
    return strategy.reduce("SUM", strategy.run(tf.ones, args=([],)), axis=None)

print("sum", float(step()), flush=True)
if sys.argv[1] == str(cluster.task_index):
    os.kill(os.getpid(), signal.SIGKILL)
try:
    with cluster_losses(cluster):
        for _ in range(3):
            step()
        meet_again(strategy)
except ClusterLostError as error:
    print(error, flush=True)
    os._exit(error.exit_code)
os._exit(0)
"""

SCHEDULED = """
import os
from components.cluster.discovery import find_cluster
from components.cluster.server import serve
from components.strategy import make_strategy
cluster = find_cluster(os.environ)
if cluster.is_server:
    serve(cluster, timeout=120, grace=3)
    os._exit(0)
strategy = make_strategy("parameter_server", cluster, timeout=120)
import tensorflow as tf
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    total = tf.Variable(0.0)
add = tf.function(lambda: total.assign_add(1.0))
for _ in range(10):
    coordinator.schedule(add)
coordinator.join()
print("total", float(total.read_value()), total.device, flush=True)
os._exit(0)
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def run_cluster(code, counts, *arguments):
    """Exit code and output of each task, by type and index."""
    ports = iter(free_ports(sum(counts.values())))
    cluster = {
        kind: [f"127.0.0.1:{next(ports)}" for _ in range(count)]
        for kind, count in counts.items()
    }
    processes = {}
    for kind, addresses in cluster.items():
        for index in range(len(addresses)):
            task = {"type": kind, "index": index}
            config = json.dumps({"cluster": cluster, "task": task})
            processes[kind, index] = subprocess.Popen(
                [sys.executable, "-c", code, *arguments],
                env={**os.environ, "TF_CONFIG": config, "TF_CPP_MIN_LOG_LEVEL": "3"},
                cwd=Path(__file__).parents[3],
                stdout=subprocess.PIPE,
                text=True,
            )
    try:
        outputs = {one: p.communicate(timeout=240)[0] for one, p in processes.items()}
    finally:
        for process in processes.values():
            process.kill()
    return {one: (p.returncode, outputs[one]) for one, p in processes.items()}, cluster


def test_two_workers_sum_their_ones_and_end():
    ended, _ = run_cluster(COLLECTIVE, {"worker": 2}, "none")

    assert ended == {("worker", index): (0, "sum 2.0\n") for index in (0, 1)}


def test_a_worker_that_is_killed_is_named_by_the_other():
    ended, cluster = run_cluster(COLLECTIVE, {"worker": 2}, "1")

    code, output = ended["worker", 0]
    assert code == 75
    assert f"no answer from worker 1 ({cluster['worker'][1]})" in output


def test_parameter_servers_and_workers_serve_the_chief_and_end_after_it():
    ended, _ = run_cluster(SCHEDULED, {"chief": 1, "ps": 1, "worker": 2})

    assert [code for code, _ in ended.values()] == [0, 0, 0, 0]
    _, output = ended["chief", 0]
    # Ten steps of one each, on a variable that lives on the server.
    assert output.startswith("total 10.0 /job:ps/replica:0/task:0")

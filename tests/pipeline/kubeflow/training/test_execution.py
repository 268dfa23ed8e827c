"""A compiled pipeline whose training is a TFJob of two workers; all else as ever.

The API server is an emulator. The operator's part is played here: it starts each
worker's own command as a process, with TF_CONFIG, and writes the status.
"""

import json
import os
import subprocess
import sys
import threading

import portpicker
import pytest
import yaml

from data import paths
from data.simulator.config import SimulatorConfig
from data.simulator.writing import write_log
from pipeline.config import load
from pipeline.kubeflow.config import KubeflowConfig
from tests.conftest import ROOT, small_demo
from tests.object_store import BUCKET, s3_server
from tests.pipeline.kubeflow.interpreter import Interpreter
from tests.pipeline.kubeflow.training.conftest import NAMESPACE

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

STORE = f"s3://{BUCKET}"
WORKERS = 2


class Operator(threading.Thread):
    """Waits for one TFJob and runs its workers on this machine."""

    def __init__(self, cluster, folder):
        super().__init__()
        self._cluster, self._folder = cluster, folder
        self._ended, self.logs = threading.Event(), []

    def run(self):
        while not self._ended.wait(0.2):
            created = self._cluster.requests("post", "/tfjobs")
            if created:
                self._train(created[0].data)
                return

    def stop(self):
        self._ended.set()
        self.join()

    def _train(self, job):
        name, worker = job["metadata"]["name"], job["spec"]["tfReplicaSpecs"]["Worker"]
        (container,) = worker["template"]["spec"]["containers"]
        assert container["command"][0] == "python"
        command = [sys.executable, *container["command"][1:]]
        ports = [portpicker.pick_unused_port() for _ in range(worker["replicas"])]
        hosts = {"worker": [f"127.0.0.1:{port}" for port in ports]}
        processes = []
        for index in range(worker["replicas"]):
            task = {"type": "worker", "index": index}
            environment = {"TF_CONFIG": json.dumps({"cluster": hosts, "task": task})}
            self.logs.append(self._folder / f"worker-{index}.log")
            with self.logs[-1].open("w") as log:
                processes.append(
                    subprocess.Popen(
                        command,
                        cwd=ROOT,
                        env=os.environ | environment,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                    )
                )
        self._set_status(name, "Running")
        codes = [process.wait() for process in processes]
        self._set_status(name, "Failed" if any(codes) else "Succeeded")

    def _set_status(self, name, condition):
        status = {"conditions": [{"type": condition, "status": "True"}]}
        key = ("kubeflow.org/v1/tfjobs", NAMESPACE, name)
        self._cluster.api.objects[key].patch({"status": status})


@pytest.fixture
def document(tmp_path):
    """The small demo, whose Trainer starts a TFJob."""
    from pipeline.kubeflow.compile import compile_kubeflow
    from pipeline.kubeflow.request import request_of

    config = load(config=small_demo(tmp_path))
    train = config.train.model_copy(update={"strategy": "multi_worker_mirrored"})
    cluster = KubeflowConfig(
        image="registry.local/ctr:1",
        training={
            "kind": "TFJob",
            "workers": WORKERS,
            "namespace": NAMESPACE,
            "poll_seconds": 1,
        },
    )
    config = config.model_copy(update={"train": train, "kubeflow": cluster})
    request = request_of(config, "kubeflow", pipeline_root=f"{STORE}/root")
    return compile_kubeflow(config, request)


def test_the_model_that_two_workers_trained_goes_through_the_pipeline(
    cluster, document, tmp_path, monkeypatch
):
    log = tmp_path / "log"
    write_log(SimulatorConfig(rows=8_000, users=400, days=4), log, "parquet")
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(cluster.kubeconfig()))
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    operator = Operator(cluster, tmp_path)
    with s3_server():
        paths.copy_tree(str(log), f"{STORE}/log")
        operator.start()
        try:
            run = Interpreter(document, tmp_path).run({"input_base": f"{STORE}/log"})
        finally:
            operator.stop()
        trainer = run["Trainer"]
        assert paths.exists(f"{trainer['model']['uri']}/Format-Serving/saved_model.pb")
        with paths.open_read(f"{trainer['model_run']['uri']}/training.json") as file:
            counted = json.loads(file.read())
        # Of the second worker nothing is in the store.
        assert not paths.exists(f"{trainer['model_run']['uri']}/_workers")
    judged = run["ModelGate"]["blessing"]["metadata"]
    assert (judged["blessed"], judged["current_model"]) == (1, trainer["model"]["uri"])
    logs = [path.read_text() for path in operator.logs]
    assert len(logs) == WORKERS
    # Both went through all steps, and both saw the loss of all rows.
    last = [log.splitlines()[-1].split(", waiting")[0] for log in logs]
    losses = [line.rsplit(",", 1)[0] for line in last]
    assert losses[0] == losses[1]
    assert f"step {counted['steps']}," in losses[0]
    (created,) = cluster.requests("post", "/tfjobs")
    name = created.data["metadata"]["name"]
    assert cluster.api.objects["kubeflow.org/v1/tfjobs", NAMESPACE, name].deleted

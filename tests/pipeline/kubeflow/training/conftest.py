"""An API server of Kubernetes on loopback, which the real client talks to."""

import asyncio
import threading

import kmock
import pytest

from pipeline.kubeflow.config import KubeflowConfig
from pipeline.kubeflow.training.kinds import KINDS
from pipeline.kubeflow.training.spec import TrainingSpec, job_name

NAMESPACE = "ads"
URI = "s3://bucket/runs/1/Trainer/training_job.json"
IMAGE = "registry.local/ctr@sha256:" + "a" * 64


class Cluster:
    """kmock's emulator in a thread of its own, and what controllers do to jobs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.api = kmock.KubernetesEmulator()
        self._server = kmock.Server(self.api)
        for one in (self.api, self._server):
            self._run(one.__aenter__())
        for resource in ("v1/pods", *map(resource_of, KINDS)):
            self.api.resources[resource] = {"namespaced": True}
        self.url = str(self._server.url).rstrip("/")

    def close(self) -> None:
        for one in (self._server, self.api):
            self._run(one.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def kubeconfig(self):
        """What leads a client in another process here."""
        return {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": {}}],
        }

    def _run(self, coroutine) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=30)

    def job(self, kind):
        """The only job there was, and its versions: None once it is deleted."""
        key = (resource_of(kind), NAMESPACE, job_name("my-ads", URI))
        return self.api.objects[key]

    def is_gone(self, kind) -> bool:
        return self.job(kind).deleted

    def set_status(self, kind, status) -> None:
        """What the operator would write."""
        self.job(kind).patch({"status": status})

    def requests(self, method, path):
        """Requests there were, by method and end of the path."""
        return [one for one in self.api[method] if one.url.path.endswith(path)]

    def add_pod(self, name, *, exit_code=None, log=(), **status) -> None:
        """A pod of the job, and what it wrote."""
        if exit_code is not None:
            ended = {"terminated": {"exitCode": exit_code, "reason": "Error"}}
            container = {"name": "node", "image": "", "imageID": "", "ready": False}
            status |= {
                "phase": "Failed",
                "containerStatuses": [container | {"restartCount": 0, "state": ended}],
            }
        pod = {"metadata": {"name": name, "namespace": NAMESPACE}, "status": status}
        self.api.objects["v1/pods", NAMESPACE, name] = pod
        if log:
            text = "".join(f"{line}\n" for line in log).encode()
            self.api[f"get {log_of(name)}"] << text

    def refuse(self, request, status, message, times=None) -> None:
        """Answers a request, such as ``post``, by an error as Kubernetes words it."""
        body = {"kind": "Status", "status": "Failure", "message": message}
        self.api[request][:times] << status << body


def log_of(pod) -> str:
    """Path of a pod's log."""
    return f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}/log"


def resource_of(kind) -> str:
    """A kind as kmock names it."""
    one = KINDS[kind]
    return f"{one.group}/{one.version}/{one.plural}"


@pytest.fixture
def cluster():
    made = Cluster()
    yield made
    made.close()


@pytest.fixture
def connect(cluster):
    """Makes ``Jobs`` of a kind.

    A pause takes no time: it moves the clock on and applies the next of some changes.
    """
    from kubernetes import client

    from pipeline.kubeflow.training.jobs import Jobs

    def connected(kind, *changes):
        left = iter(changes)
        pauses = []

        def sleep(seconds):
            pauses.append(seconds)
            change = next(left, None)
            if change is not None:
                change()

        settings = client.Configuration(host=cluster.url)
        settings.retries = False  # As the step's own client.
        jobs = Jobs(
            client.ApiClient(settings),
            KINDS[kind],
            NAMESPACE,
            sleep,
            clock=lambda: sum(pauses),
        )
        jobs.pauses = pauses
        return jobs

    return connected


@pytest.fixture
def make_spec():
    """Makes the settings of a job; keywords go to ``kubeflow.training``."""

    def made(kind="TrainJob", cluster=None, **training):
        config = KubeflowConfig(
            training={"kind": kind, "workers": 3} | training, **(cluster or {})
        )
        assert config.training is not None
        return TrainingSpec.of("my-ads", IMAGE, config, config.training)

    return made

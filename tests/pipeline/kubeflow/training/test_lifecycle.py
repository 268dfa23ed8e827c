"""Jobs from creation to deletion, against an API server."""

import hashlib
import json
import os
import signal
import subprocess
import sys

import pytest
import yaml

from data.errors import RunError
from pipeline.kubeflow.training.lifecycle import run_job
from pipeline.kubeflow.training.retry import PAUSES
from tests.pipeline.kubeflow.training.conftest import IMAGE, NAMESPACE, URI

NAME = "my-ads-" + hashlib.sha256(URI.encode()).hexdigest()[:10]
KINDS = ("TrainJob", "TFJob")


def condition(kind, **more):
    return {"conditions": [{"type": kind, "status": "True"} | more]}


DONE = {"TrainJob": condition("Complete"), "TFJob": condition("Succeeded")}
FAILED = {
    kind: condition("Failed", reason="Failed", message="a worker failed")
    for kind in KINDS
}


def test_a_train_job_is_followed_from_the_queue_to_its_end(cluster, connect, make_spec):
    def status(**counts):
        return {"jobsStatus": [{"name": "node", "failed": 0} | counts]}

    changes = (
        lambda: cluster.set_status("TrainJob", condition("Suspended")),
        lambda: cluster.set_status(
            "TrainJob", {"conditions": []} | status(active=1, ready=0, succeeded=0)
        ),
        lambda: cluster.set_status("TrainJob", status(active=1, ready=1, succeeded=0)),
        lambda: None,
        lambda: cluster.set_status("TrainJob", DONE["TrainJob"]),
    )
    notes = []
    run_job(connect("TrainJob", *changes), make_spec(), URI, notes.append)
    assert notes == [
        f"TrainJob {NAME}: created",
        f"TrainJob {NAME}: suspended: waits in the queue",
        f"TrainJob {NAME}: jobs: 1 active, 0 ready, 0 succeeded, 0 failed",
        f"TrainJob {NAME}: jobs: 1 active, 1 ready, 0 succeeded, 0 failed",
        f"TrainJob {NAME}: complete",
    ]
    assert cluster.is_gone("TrainJob")


def test_a_tf_job_is_followed_through_a_restart_to_its_end(cluster, connect, make_spec):
    def running(kind, active):
        workers = {"replicaStatuses": {"Worker": {"active": active}}}
        return lambda: cluster.set_status("TFJob", condition(kind) | workers)

    changes = (
        running("Created", 0),
        running("Running", 3),
        running("Restarting", 2),
        running("Running", 3),
        lambda: cluster.set_status("TFJob", DONE["TFJob"]),
    )
    notes = []
    run_job(connect("TFJob", *changes), make_spec("TFJob"), URI, notes.append)
    workers = "workers: {} active, 0 succeeded, 0 failed"
    assert notes == [
        f"TFJob {NAME}: {text}"
        for text in (
            "created",
            f"created: {workers.format(0)}",
            f"running: {workers.format(3)}",
            f"restarting: {workers.format(2)}",
            f"running: {workers.format(3)}",
            "succeeded",
        )
    ]
    assert cluster.is_gone("TFJob")


@pytest.mark.parametrize("kind", KINDS)
def test_a_finished_job_can_be_kept(cluster, connect, make_spec, kind):
    end = lambda: cluster.set_status(kind, DONE[kind])  # noqa: E731
    run_job(connect(kind, end), make_spec(kind, keep=True), URI, print)
    assert not cluster.is_gone(kind)
    assert cluster.job(kind)["metadata"]["annotations"] == {
        "ctr.training/job-file": URI
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_job_tells_by_the_last_lines_of_its_pods(
    cluster, connect, make_spec, kind
):
    cluster.add_pod("worker-0", phase="Running")
    cluster.add_pod("worker-1", exit_code=1, log=["step 10", "error: loss is nan"])
    fail = lambda: cluster.set_status(kind, FAILED[kind])  # noqa: E731
    notes = []
    with pytest.raises(RunError) as caught:
        run_job(connect(kind, fail), make_spec(kind), URI, notes.append)
    assert str(caught.value) == (
        f"{kind} {NAME} in namespace {NAMESPACE}: failed: Failed: a worker failed; pod "
        "worker-1: exit code 1 Error (error: loss is nan)"
    )
    assert notes[-3:] == [
        "pod worker-1: exit code 1 Error",
        "step 10",
        "error: loss is nan",
    ]
    assert cluster.is_gone(kind)
    (listed,) = cluster.requests("get", "/pods")
    label = {
        "TrainJob": "jobset.sigs.k8s.io/jobset-name",
        "TFJob": "training.kubeflow.org/job-name",
    }
    assert listed.params == {"labelSelector": f"{label[kind]}={NAME}"}


def test_a_failure_that_nothing_explains_says_so(cluster, connect, make_spec):
    fail = lambda: cluster.set_status("TFJob", condition("Failed"))  # noqa: E731
    with pytest.raises(RunError, match="failed: neither its status nor its pods"):
        run_job(connect("TFJob", fail), make_spec("TFJob"), URI, print)


def test_a_job_that_takes_too_long_says_why_its_pods_do_not_run(
    cluster, connect, make_spec
):
    waiting = {"waiting": {"reason": "ImagePullBackOff"}}
    container = {"name": "node", "image": "", "imageID": "", "ready": False}
    cluster.add_pod(
        "worker-0",
        phase="Pending",
        containerStatuses=[container | {"restartCount": 0, "state": waiting}],
    )
    message = "0/2 nodes are available: Insufficient nvidia.com/gpu."
    unscheduled = {"type": "PodScheduled", "status": "False", "message": message}
    cluster.add_pod("worker-1", phase="Pending", conditions=[unscheduled])
    notes = []
    with pytest.raises(RunError, match=r"no end after 25 s.*ImagePullBackOff"):
        run_job(connect("TrainJob"), make_spec(timeout_seconds=25), URI, notes.append)
    assert f"pod worker-1: not scheduled: {message}" in notes
    assert cluster.is_gone("TrainJob")


def test_the_time_in_the_queue_does_not_count(cluster, connect, make_spec):
    def suspend(value):
        policy = {"runPolicy": {"suspend": value}}
        return lambda: cluster.job("TFJob").patch({"spec": policy})

    changes = (suspend(True), *[None] * 20, suspend(False), None)
    end = lambda: cluster.set_status("TFJob", DONE["TFJob"])  # noqa: E731
    jobs = connect("TFJob", *changes, end)
    spec = make_spec("TFJob", timeout_seconds=40, poll_seconds=10)
    run_job(jobs, spec, URI, print)
    # 22 pauses in the queue, then fewer than the limit allows.
    assert jobs.pauses == [10] * 24


@pytest.mark.parametrize("status", [429, 503])
def test_an_api_server_that_is_away_for_long_does_not_end_the_training(
    cluster, connect, make_spec, status
):
    # Three rounds of requests, more than six minutes; a pause follows each request.
    silent = 3 * (len(PAUSES) + 1)

    def fall_silent():
        # kmock counts from the first request, the look before.
        cluster.refuse("get", status, "etcd is away", times=1 + silent)

    end = lambda: cluster.set_status("TrainJob", DONE["TrainJob"])  # noqa: E731
    notes = []
    jobs = connect("TrainJob", fall_silent, *[None] * silent, end)
    run_job(jobs, make_spec(), URI, notes.append)
    unknown = f"TrainJob {NAME}: its state is not known, asks on: Kubernetes: get"
    assert [note.startswith(unknown) for note in notes[1:4]] == [True] * 3
    assert f"{status}: etcd is away" in notes[1]
    assert notes[4:] == [f"TrainJob {NAME}: complete"]
    assert max(jobs.pauses) == max(PAUSES)
    assert len(cluster.requests("delete", NAME)) == 1


def test_an_api_server_that_is_away_does_not_lift_the_time_limit(
    cluster, connect, make_spec
):
    away = lambda: cluster.refuse("get", 503, "etcd is away")  # noqa: E731
    jobs = connect("TrainJob", away)
    with pytest.raises(RunError, match="no end after 300 s"):
        run_job(jobs, make_spec(timeout_seconds=300), URI, print)
    # Waiting; three rounds until the limit; the pods' and the job's before deletion.
    assert jobs.pauses.count(max(PAUSES)) == 5


def test_a_refused_look_ends_the_training(cluster, connect, make_spec):
    def refuse():
        # The look before counts, too.
        cluster.refuse("get", 403, 'cannot get resource "trainjobs"', times=2)

    with pytest.raises(RunError, match="lacks the verb get"):
        run_job(connect("TrainJob", refuse), make_spec(), URI, print)
    assert cluster.is_gone("TrainJob")


def test_a_job_that_somebody_deletes_has_failed(cluster, connect, make_spec):
    delete = lambda: cluster.job("TrainJob").delete()  # noqa: E731
    with pytest.raises(RunError, match="somebody deleted it"):
        run_job(connect("TrainJob", delete), make_spec(), URI, print)


def test_the_job_that_a_killed_try_of_the_step_left_is_replaced(
    cluster, connect, make_spec
):
    jobs = connect("TrainJob", lambda: cluster.set_status("TrainJob", DONE["TrainJob"]))
    cluster.api.objects["trainer.kubeflow.org/v1alpha1/trainjobs", NAMESPACE, NAME] = (
        left
    ) = {
        "metadata": {"name": NAME, "annotations": {"ctr.training/job-file": URI}},
        "spec": {"old": True},
    }
    run_job(jobs, make_spec(keep=True), URI, print)
    versions = [one and one["spec"] for one in cluster.job("TrainJob").history]
    assert versions[:2] == [left["spec"], None]
    assert versions[2]["trainer"]["image"] == IMAGE


def test_a_name_that_somebody_else_has_is_refused_and_theirs_stays(
    cluster, connect, make_spec
):
    cluster.api.objects["trainer.kubeflow.org/v1alpha1/trainjobs", NAMESPACE, NAME] = {
        "metadata": {"name": NAME}
    }
    with pytest.raises(RunError, match="the name is taken") as caught:
        run_job(connect("TrainJob"), make_spec(), URI, print)
    assert len(str(caught.value).splitlines()) == 1
    assert not cluster.is_gone("TrainJob")


def test_sigterm_while_it_waits_deletes_the_job(cluster, make_spec, tmp_path):
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(yaml.safe_dump(cluster.kubeconfig()))
    # The step's own entry, up to the wait; it tells by a line when it waits.
    code = (
        "import sys\n"
        "from types import SimpleNamespace\n"
        "from pipeline.kubeflow.training.step import run_fn\n"
        "run_fn(SimpleNamespace(\n"
        "    train_files=['packed/*'], eval_files=[], transform_output='graph',\n"
        "    serving_model_dir=f'{sys.argv[1]}/model',\n"
        "    model_run_dir=f'{sys.argv[1]}/model_run',\n"
        "    custom_config={'train': '{}', 'kubeflow_training': sys.argv[2]}))\n"
    )
    spec = make_spec(namespace=NAMESPACE, poll_seconds=300)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), spec.model_dump_json()],
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        stderr=subprocess.PIPE,
        text=True,
    ) as step:
        assert step.stderr is not None
        line = step.stderr.readline()
        assert line.endswith(": created\n"), line + step.stderr.read()
        step.send_signal(signal.SIGTERM)
        assert step.wait(timeout=60) == 128 + signal.SIGTERM
    # Written by the step, read by the workers: no settings of the cluster.
    job = json.loads((tmp_path / "training_job.json").read_text())
    assert job["custom_config"] == {"train": "{}"}
    (created,) = cluster.requests("post", "/trainjobs")
    (deleted,) = cluster.requests("delete", created.data["metadata"]["name"])
    assert deleted.params == {"propagationPolicy": "Foreground"}

"""What the API server refuses, and what it only fails at for a moment."""

import socket

import pytest

from data.errors import RunError
from pipeline.kubeflow.training.logs import why
from pipeline.kubeflow.training.manifest import manifest
from pipeline.kubeflow.training.retry import PAUSES
from pipeline.kubeflow.training.spec import job_name
from tests.pipeline.kubeflow.training.conftest import NAMESPACE, URI, log_of

NAME = job_name("my-ads", URI)


@pytest.fixture
def wanted(make_spec):
    """The object of a TrainJob."""
    return manifest(make_spec(), URI, NAMESPACE, {})


def refusal_of(call, *arguments) -> str:
    """The error of a call, which is one line."""
    with pytest.raises(RunError) as caught:
        call(*arguments)
    (line,) = str(caught.value).splitlines()
    return line


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_fails_for_a_moment_is_asked_again(
    cluster, connect, wanted, status
):
    jobs = connect("TrainJob")
    jobs.create(wanted)
    cluster.refuse("get", status, "later", times=3)
    assert jobs.read(NAME)["spec"] == wanted["spec"]
    assert jobs.pauses == [1, 2, 4]


def test_a_creation_that_was_done_though_the_answer_failed_is_not_an_error(
    cluster, connect, wanted
):
    # kmock creates the object and answers 500; the second try finds the name taken.
    cluster.refuse("post", 500, "etcd: leader changed", times=1)
    jobs = connect("TrainJob")
    jobs.create(wanted)
    assert not cluster.is_gone("TrainJob")
    assert cluster.job("TrainJob")["spec"] == wanted["spec"]


def test_a_server_that_stays_away_is_given_up(cluster, connect):
    cluster.refuse("get", 503, "the server is shutting down")
    jobs = connect("TrainJob")
    line = refusal_of(jobs.read, NAME)
    assert "503: the server is shutting down; wait until the API server" in line
    assert jobs.pauses == list(PAUSES)


def test_an_address_where_nobody_answers_is_one_line(cluster, connect):
    with socket.socket() as taken:
        # Bound, so that nobody else gets the port, and not listening.
        taken.bind(("127.0.0.1", 0))
        cluster.url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        jobs = connect("TrainJob")
        line = refusal_of(jobs.read, NAME)
    place = "Kubernetes: get trainjobs.trainer.kubeflow.org in namespace ads"
    assert line.startswith(f"{place}: no answer (NewConnectionError)")
    assert jobs.pauses == list(PAUSES)


def test_tls_that_fails_is_no_answer_and_blames_no_setting(cluster, connect):
    # The server speaks no TLS; the client tells of it by an error of status 0.
    cluster.url = cluster.url.replace("http://", "https://")
    jobs = connect("TrainJob")
    line = refusal_of(jobs.read, NAME)
    assert "in namespace ads: no answer (SSLError" in line
    assert line.endswith("the address of the API server and its certificate")
    assert jobs.pauses == list(PAUSES)


def test_a_job_that_vanishes_after_its_name_was_taken_is_created(
    cluster, connect, wanted
):
    key = ("trainer.kubeflow.org/v1alpha1/trainjobs", NAMESPACE, NAME)
    cluster.api.objects[key] = {"metadata": {"name": NAME}}
    jobs = connect("TrainJob")
    read = jobs.read

    def read_late(name):
        if len(cluster.requests("post", "/trainjobs")) == 1:
            cluster.api.objects[key].delete()
        return read(name)

    jobs.read = read_late
    jobs.create(wanted)
    assert len(cluster.requests("post", "/trainjobs")) == 2
    assert cluster.job("TrainJob")["spec"] == wanted["spec"]


FORBIDDEN = (
    'trainjobs.trainer.kubeflow.org is forbidden: User "system:serviceaccount:ads:x" '
    'cannot create resource "trainjobs" in API group "trainer.kubeflow.org"'
)


@pytest.mark.parametrize(
    ("status", "message", "remedy"),
    [
        (401, "Unauthorized", "mount a valid one"),
        (
            403,
            FORBIDDEN,
            "lacks the verb create; apply pipeline/kubeflow/training/rbac",
        ),
        (403, "exceeded quota: gpus", "exceeded quota: gpus; correct"),
        (404, "page not found", "install Kubeflow Trainer 2, or choose the other"),
        (404, 'namespaces "ads" not found', "correct kubeflow.training.namespace"),
        (422, "spec.trainer:\n  Invalid value", "spec.trainer: Invalid value; correct"),
        (422, "x" * 5000, "x..."),
    ],
)
def test_a_refusal_is_one_line_with_the_remedy(
    cluster, connect, wanted, status, message, remedy
):
    cluster.refuse("post", status, message)
    jobs = connect("TrainJob")
    line = refusal_of(jobs.create, wanted)
    place = "create trainjobs.trainer.kubeflow.org in namespace ads"
    assert line.startswith(f"Kubernetes: {place}: {status}: ")
    assert remedy in line
    assert len(line) < 600
    assert jobs.pauses == []


def test_a_field_that_the_installed_release_drops_is_an_error(
    cluster, connect, make_spec
):
    wanted = manifest(make_spec(node_selector={"pool": "gpu"}), URI, NAMESPACE, {})
    kept = {key: wanted["spec"][key] for key in ("runtimeRef", "trainer")}
    cluster.api["post"] << (wanted | {"spec": kept})
    line = refusal_of(connect("TrainJob").create, wanted)
    assert "spec.runtimePatches" in line
    assert "set kubeflow.training.pod_patch" in line


def test_a_field_that_a_tf_job_drops_blames_no_setting_of_train_jobs(
    cluster, connect, make_spec
):
    wanted = manifest(make_spec("TFJob"), URI, NAMESPACE, {})
    kept = {"tfReplicaSpecs": wanted["spec"]["tfReplicaSpecs"]}
    cluster.api["post"] << (wanted | {"spec": kept})
    line = refusal_of(connect("TFJob").create, wanted)
    assert "spec.runPolicy: the installed TFJob has no such field" in line
    assert line.endswith("upgrade the operator")


@pytest.mark.parametrize(
    ("path", "missing"), [("", "list"), (f" {log_of('worker-0')}", "get")]
)
def test_what_may_not_be_read_of_pods_does_not_hide_the_failure(
    cluster, connect, path, missing
):
    cluster.add_pod("worker-0", exit_code=137)
    cluster.refuse(f"get{path}", 403, 'cannot get resource "pods/log"')
    told = why(connect("TFJob"), NAME, print)
    assert f"lacks the verb {missing}" in told
    assert len(told.splitlines()) == 1
    assert told.startswith("pod worker-0: exit code 137") == bool(path)


def test_only_the_own_job_is_removed(cluster, connect, wanted):
    jobs = connect("TrainJob")
    jobs.create(wanted)
    assert not jobs.remove(NAME, "s3://bucket/another.json")
    assert not cluster.is_gone("TrainJob")
    assert jobs.remove(NAME, URI)
    assert cluster.is_gone("TrainJob")
    assert not jobs.remove(NAME, URI)

"""The objects that are created, as data."""

from pathlib import Path

import pytest
import yaml

from data.errors import ConfigError, RunError
from pipeline.kubeflow.training import manifest as module
from pipeline.kubeflow.training.kinds import KINDS
from pipeline.kubeflow.training.manifest import manifest
from pipeline.kubeflow.training.spec import job_name
from pipeline.kubeflow.training.worker import NEW_POD_EXIT_CODE
from tests.pipeline.kubeflow.training.conftest import IMAGE, NAMESPACE, URI

FILES = Path(module.__file__).parent
NAME = job_name("my-ads", URI)
COMMAND = ["python", "-m", "pipeline.kubeflow.training.worker", "--job", URI]
COMMAND += ["--restarts", "3"]
POD = {
    "cpu": 8,
    "memory": "32Gi",
    "gpu": 2,
    "node_selector": {"pool": "gpu"},
    "tolerations": [{"key": "gpu", "effect": "NoSchedule"}],
}
CLUSTER = {
    "queue": "ctr",
    "service_account": "pipeline-runner",
    "image_pull_secrets": ["registry"],
    "secrets": [{"name": "store", "env": {"AWS_ACCESS_KEY_ID": "id"}}],
}
LIMITS = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "2"}
RESOURCES = {"limits": LIMITS, "requests": LIMITS}
PLACEMENT = {
    "serviceAccountName": "pipeline-runner",
    "imagePullSecrets": [{"name": "registry"}],
    "nodeSelector": {"pool": "gpu"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
}
SECRET = {
    "name": "AWS_ACCESS_KEY_ID",
    "valueFrom": {"secretKeyRef": {"name": "store", "key": "id"}},
}


def test_a_train_job_has_all_that_the_configuration_says(make_spec):
    job = manifest(make_spec(cluster=CLUSTER, **POD), URI, NAMESPACE, {})
    assert job["metadata"] == {
        "name": NAME,
        "namespace": NAMESPACE,
        "annotations": {"ctr.training/job-file": URI},
        "labels": {"kueue.x-k8s.io/queue-name": "ctr"},
    }
    patch = {"name": "node", "template": {"spec": {"template": {"spec": PLACEMENT}}}}
    assert job["apiVersion"] == "trainer.kubeflow.org/v1alpha1"
    assert job["spec"] == {
        "runtimeRef": {
            "apiGroup": "trainer.kubeflow.org",
            "kind": "ClusterTrainingRuntime",
            "name": "ctr",
        },
        "trainer": {
            "image": IMAGE,
            "command": COMMAND,
            "numNodes": 3,
            "resourcesPerNode": RESOURCES,
            "env": [
                {"name": "CTR_WORKERS", "value": "3"},
                {
                    "name": "CTR_WORKER_HOST",
                    "value": f"{NAME}-node-0-{{index}}.{NAME}",
                },
                SECRET,
            ],
        },
        "runtimePatches": [
            {
                "manager": "ctr.training/step",
                "trainingRuntimeSpec": {
                    "template": {"spec": {"replicatedJobs": [patch]}}
                },
            }
        ],
    }


def test_the_pods_of_a_train_job_find_each_other(make_spec):
    from components.cluster.discovery import find_cluster

    env = manifest(make_spec(), URI, NAMESPACE, {})["spec"]["trainer"]["env"]
    variables = {one["name"]: one["value"] for one in env}
    # Kubernetes sets the index in each pod of an Indexed Job.
    found = find_cluster(variables | {"JOB_COMPLETION_INDEX": "2"})
    assert found is not None
    assert found.task.address == f"{NAME}-node-0-2.{NAME}:2222"
    assert (found.worker_count, found.is_chief) == (3, False)


def test_older_releases_of_trainer_take_the_pods_by_another_field(make_spec):
    spec = make_spec(pod_patch="podTemplateOverrides", node_selector={"pool": "gpu"})
    job = manifest(spec, URI, NAMESPACE, {})
    assert job["spec"]["podTemplateOverrides"] == [
        {"targetJobs": [{"name": "node"}], "spec": {"nodeSelector": {"pool": "gpu"}}}
    ]
    assert "runtimePatches" not in job["spec"]


def test_a_tf_job_has_workers_only_in_the_container_the_operator_looks_for(make_spec):
    spec = make_spec("TFJob", CLUSTER, timeout_seconds=600, **POD)
    job = manifest(spec, URI, NAMESPACE, {})
    container = {
        "name": "tensorflow",
        "image": IMAGE,
        "command": COMMAND,
        "ports": [{"name": "tfjob-port", "containerPort": 2222}],
        "env": [SECRET],
        "resources": RESOURCES,
    }
    assert job["apiVersion"] == "kubeflow.org/v1"
    assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "ctr"}
    assert job["spec"] == {
        "runPolicy": {
            "cleanPodPolicy": "None",
            "backoffLimit": 3,
            "activeDeadlineSeconds": 600,
        },
        "tfReplicaSpecs": {
            "Worker": {
                "replicas": 3,
                "restartPolicy": "ExitCode",
                "template": {"spec": {"containers": [container], **PLACEMENT}},
            }
        },
    }


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_that_is_not_set(make_spec, kind):
    job = manifest(make_spec(kind), URI, NAMESPACE, {})
    assert sorted(job["metadata"]) == ["annotations", "name", "namespace"]
    text = str(job)
    for word in ("suspend", "limits", "nodeSelector", "secret", "Patches"):
        assert word not in text


def test_settings_of_all_pods_complete_those_of_the_workers(make_spec):
    cluster = {"defaults": {"cpu": 1, "memory": "4Gi"}}
    job = manifest(make_spec(cluster=cluster, cpu=2.5), URI, NAMESPACE, {})
    limits = job["spec"]["trainer"]["resourcesPerNode"]["limits"]
    assert limits == {"cpu": "2.5", "memory": "4Gi"}


def test_the_job_is_deleted_with_the_pod_of_the_step(make_spec):
    environ = {"KFP_POD_NAME": "run-1", "KFP_POD_UID": "u-1"}
    job = manifest(make_spec(), URI, NAMESPACE, environ)
    assert job["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Pod", "name": "run-1", "uid": "u-1"}
    ]
    # Kubernetes deletes at once what an owner of another namespace is said to own.
    elsewhere = manifest(make_spec(namespace="gpu"), URI, "gpu", environ)
    assert "ownerReferences" not in elsewhere["metadata"]


def test_a_name_is_one_of_a_host_and_another_for_each_job_file():
    long = "a" * 29 + "-" + "b" * 33
    names = {job_name(long, f"s3://b/{run}/training_job.json") for run in range(100)}
    assert len(names) == 100
    assert {name[:30] for name in names} == {"a" * 29 + "-"}
    # The longest that is derived from it, a pod of the TrainJob.
    assert all(len(f"{name}-node-0-99-abcde") <= 63 for name in names)


def test_the_runtime_is_the_one_that_train_jobs_ask_for(make_spec):
    runtime = yaml.safe_load((FILES / "runtime.yaml").read_text())
    job = manifest(make_spec(), URI, NAMESPACE, {})
    reference = job["spec"]["runtimeRef"]
    assert runtime["kind"] == reference["kind"]
    assert runtime["metadata"]["name"] == reference["name"]
    assert runtime["apiVersion"] == job["apiVersion"]
    (node,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    job_spec = node["template"]["spec"]
    (container,) = job_spec["template"]["spec"]["containers"]
    assert (node["name"], container["name"]) == ("node", "node")
    assert job_spec["completionMode"] == "Indexed"


def test_a_lost_neighbour_fails_no_job_whatever_its_kind(make_spec):
    runtime = yaml.safe_load((FILES / "runtime.yaml").read_text())
    (node,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    job = node["template"]["spec"]
    (final,) = [
        rule["onExitCodes"]["values"]
        for rule in job["podFailurePolicy"]["rules"]
        if rule["action"] == "FailJob"
    ]
    assert final == [RunError.exit_code, ConfigError.exit_code]
    # Each worker has its own count, else many neighbours of one would use up all.
    assert (job["backoffLimitPerIndex"], job["maxFailedIndexes"]) == (3, 0)
    assert "backoffLimit" not in job
    # The operator of a TFJob tries again after 128 and more.
    assert NEW_POD_EXIT_CODE >= 128


def test_the_role_allows_what_the_step_does():
    role, binding = yaml.safe_load_all((FILES / "rbac.yaml").read_text())
    allowed = {
        (group, resource): set(rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    jobs = {
        (kind.group, kind.plural): {"create", "get", "delete"}
        for kind in KINDS.values()
    }
    assert allowed == jobs | {("", "pods"): {"list"}, ("", "pods/log"): {"get"}}
    assert binding["roleRef"]["name"] == role["metadata"]["name"]

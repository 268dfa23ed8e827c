"""TFJob of training operator 1: the operator sets TF_CONFIG and restarts pods.

The API is ``kubeflow.org/v1``:
https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/tensorflow/
"""

from typing import Any

from pipeline.kubeflow.training.pods import environment, placement, resources
from pipeline.kubeflow.training.spec import TrainingSpec
from pipeline.kubeflow.training.state import State, counts, true_conditions

# Names and number by which the operator finds container and port.
_CONTAINER = "tensorflow"
_PORT = {"name": "tfjob-port", "containerPort": 2222}


def spec_of(spec: TrainingSpec, name: str, command: list[str]) -> dict[str, Any]:
    """The ``spec`` of a TFJob.

    Args:
        spec: the job.
        name: its name; the operator derives the addresses.
        command: of each worker.

    Returns:
        The field as JSON: workers only, of which number 0 is the chief.
    """
    del name
    training = spec.training
    container: dict[str, Any] = {
        "name": _CONTAINER,
        "image": spec.image,
        "command": command,
        "ports": [_PORT],
        "env": environment(spec),
        "resources": resources(spec),
    }
    # The logs of failed pods are read before the job is deleted.
    policy: dict[str, Any] = {
        "cleanPodPolicy": "None",
        "backoffLimit": training.restarts,
    }
    if training.timeout_seconds is not None:
        policy["activeDeadlineSeconds"] = training.timeout_seconds
    worker = {
        "replicas": training.workers,
        # Again after 128 and more, a signal or a lost cluster; never after an error of
        # the training.
        "restartPolicy": "ExitCode",
        "template": {"spec": {"containers": [container], **placement(spec)}},
    }
    return {"runPolicy": policy, "tfReplicaSpecs": {"Worker": worker}}


def state_of(job: dict[str, Any]) -> State:
    """Reads the status of a TFJob.

    Args:
        job: the object.

    Returns:
        Its state.
    """
    found = true_conditions(job)
    if "Failed" in found:
        return State("failed", found["Failed"])
    if "Succeeded" in found:
        return State("succeeded", "succeeded")
    suspend = job.get("spec", {}).get("runPolicy", {}).get("suspend")
    if "Suspended" in found or suspend:
        return State("waiting", "suspended: waits in the queue")
    states = ("Restarting", "Running", "Created")
    state = next((one.lower() for one in states if one in found), "created")
    replicas = job.get("status", {}).get("replicaStatuses") or {}
    if "Worker" not in replicas:
        return State("active", state)
    names = ("active", "succeeded", "failed")
    return State("active", f"{state}: workers: {counts(replicas['Worker'], names)}")

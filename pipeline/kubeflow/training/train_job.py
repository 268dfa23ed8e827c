"""TrainJob of Kubeflow Trainer 2: a JobSet from a runtime that an admin has installed.

The API is ``trainer.kubeflow.org/v1alpha1``:
https://github.com/kubeflow/trainer/blob/master/pkg/apis/trainer/v1alpha1/trainjob_types.go
Trainer sets no TF_CONFIG. It calls pods ``<job>-node-0-<index>.<job>``, and Kubernetes
tells each its index, which is what `components.cluster.kubernetes` needs.
"""

from typing import Any

from pipeline.kubeflow.training.pods import environment, placement, resources
from pipeline.kubeflow.training.spec import TrainingSpec
from pipeline.kubeflow.training.state import State, counts, true_conditions

# Trainer's own name for the replicated job that trains, and its container.
NODE = "node"
_MANAGER = "ctr.training/step"


def spec_of(spec: TrainingSpec, name: str, command: list[str]) -> dict[str, Any]:
    """The ``spec`` of a TrainJob.

    Args:
        spec: the job.
        name: its name.
        command: of each worker.

    Returns:
        The field as JSON.
    """
    training = spec.training
    cluster = {
        "CTR_WORKERS": str(training.workers),
        "CTR_WORKER_HOST": f"{name}-{NODE}-0-{{index}}.{name}",
    }
    trainer = {
        "image": spec.image,
        "command": command,
        "numNodes": training.workers,
        "env": [{"name": key, "value": value} for key, value in cluster.items()]
        + environment(spec),
    }
    if needed := resources(spec):
        trainer["resourcesPerNode"] = needed
    made: dict[str, Any] = {
        "runtimeRef": {
            "apiGroup": "trainer.kubeflow.org",
            "kind": training.runtime_kind,
            "name": training.runtime,
        },
        "trainer": trainer,
    }
    if pod := placement(spec):
        made[training.pod_patch] = [_patch(training.pod_patch, pod)]
    return made


def _patch(field: str, pod: dict[str, Any]) -> dict[str, Any]:
    """Changes to the pods of a runtime; Trainer 2.2 gave the field another shape."""
    if field == "podTemplateOverrides":
        return {"targetJobs": [{"name": NODE}], "spec": pod}
    job = {"name": NODE, "template": {"spec": {"template": {"spec": pod}}}}
    runtime = {"template": {"spec": {"replicatedJobs": [job]}}}
    return {"manager": _MANAGER, "trainingRuntimeSpec": runtime}


def state_of(job: dict[str, Any]) -> State:
    """Reads the status of a TrainJob.

    Args:
        job: the object.

    Returns:
        Its state. ``jobsStatus`` counts jobs, not pods: one is ready when all its pods
        are.
    """
    found = true_conditions(job)
    if "Failed" in found:
        return State("failed", found["Failed"])
    if "Complete" in found:
        return State("succeeded", "complete")
    if "Suspended" in found or job.get("spec", {}).get("suspend"):
        return State("waiting", "suspended: waits in the queue")
    jobs = {one["name"]: one for one in job.get("status", {}).get("jobsStatus") or []}
    if NODE not in jobs:
        return State("active", "created")
    names = ("active", "ready", "succeeded", "failed")
    return State("active", f"jobs: {counts(jobs[NODE], names)}")

"""The object that is created in the cluster."""

from collections.abc import Mapping
from typing import Any

from pipeline.kubeflow.settings import QUEUE_LABEL
from pipeline.kubeflow.training.kinds import KINDS
from pipeline.kubeflow.training.spec import TrainingSpec, job_name

# Tells whose job it is: two steps never have the same job file.
JOB_FILE = "ctr.training/job-file"
_WORKER = "pipeline.kubeflow.training.worker"


def manifest(
    spec: TrainingSpec, uri: str, namespace: str, environ: Mapping[str, str]
) -> dict[str, Any]:
    """Describes the job.

    Args:
        spec: the job.
        uri: of the job file.
        namespace: of the job.
        environ: variables of the step's pod.

    Returns:
        The object as JSON, without ``suspend``, which is Kueue's.
    """
    kind = KINDS[spec.training.kind]
    name = job_name(spec.pipeline, uri)
    command = ["python", "-m", _WORKER, "--job", uri]
    command += ["--restarts", str(spec.training.restarts)]
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "annotations": {JOB_FILE: uri},
    }
    if spec.queue is not None:
        metadata["labels"] = {QUEUE_LABEL: spec.queue}
    if owner := _owner(spec, environ):
        metadata["ownerReferences"] = [owner]
    return {
        "apiVersion": f"{kind.group}/{kind.version}",
        "kind": kind.name,
        "metadata": metadata,
        "spec": kind.spec_of(spec, name, command),
    }


def _owner(spec: TrainingSpec, environ: Mapping[str, str]) -> dict[str, str] | None:
    """The step's pod, with which Kubernetes deletes the job; of the same namespace only.

    So a step that is killed without notice leaves no job when its run is deleted.
    Kubeflow sets both variables in every container of a task.
    """
    name, uid = environ.get("KFP_POD_NAME"), environ.get("KFP_POD_UID")
    if not name or not uid or spec.training.namespace is not None:
        return None
    return {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}

"""What both kinds of jobs say of a worker's pod; secrets go by reference only."""

from typing import Any

from pipeline.kubeflow.rules.accelerator import GPU
from pipeline.kubeflow.training.spec import TrainingSpec


def environment(spec: TrainingSpec) -> list[dict[str, Any]]:
    """Variables from secrets of the namespace."""
    return [
        {
            "name": variable,
            "valueFrom": {"secretKeyRef": {"name": secret.name, "key": entry}},
        }
        for secret in spec.secrets
        for variable, entry in sorted(secret.env.items())
    ]


def resources(spec: TrainingSpec) -> dict[str, Any]:
    """Limits, which Kubernetes also requests; without any it is empty."""
    pod = spec.training
    limits: dict[str, str] = {}
    if pod.cpu is not None:
        limits["cpu"] = f"{pod.cpu:g}"
    if pod.memory is not None:
        limits["memory"] = pod.memory
    if pod.gpu:
        limits[pod.gpu_resource or GPU] = str(pod.gpu)
    return {"limits": limits, "requests": limits} if limits else {}


def placement(spec: TrainingSpec) -> dict[str, Any]:
    """Fields of a PodSpec besides its containers, only those that are set."""
    pod = spec.training
    fields = {
        "serviceAccountName": spec.service_account,
        "imagePullSecrets": [{"name": name} for name in spec.image_pull_secrets],
        "nodeSelector": pod.node_selector,
        "tolerations": [
            one.model_dump(exclude_none=True) for one in pod.tolerations or ()
        ],
    }
    return {name: value for name, value in fields.items() if value}

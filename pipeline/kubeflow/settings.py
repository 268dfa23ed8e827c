"""Writes the cluster's configuration into a compiled pipeline."""

from typing import Any

from data.errors import ConfigError, suggest
from pipeline.kubeflow.config import KubeflowConfig
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.pod_config import PodSettings
from pipeline.kubeflow.quantities import gigabytes
from pipeline.kubeflow.rules.accelerator import GPU

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_SUFFIX = "_executor"


def apply_settings(document: Document, cluster: KubeflowConfig) -> None:
    """Gives every container its resources, and its pod what the platform takes.

    Args:
        document: the compiled pipeline, its executors labelled as TFX does.
        cluster: the configuration.

    Raises:
        ConfigError: settings for a component that is not in the pipeline.
    """
    labels = {
        label.removesuffix(_SUFFIX): container
        for label, container in document.containers()
    }
    own = {one.component: one for one in cluster.components}
    for index, name in enumerate(own):
        if name not in labels:
            raise ConfigError(
                f"kubeflow.components[{index}].component: no component '{name}'. Known: "
                f"{', '.join(labels)}.{suggest(name, labels)}"
            )
    for name, container in labels.items():
        settings = own.get(name, PodSettings()).over(cluster.defaults)
        resources = _resources(settings)
        if resources:
            container["resources"] = container.get("resources", {}) | resources
        pod = _pod(settings, cluster)
        if pod:
            document.pod(f"{name}{_SUFFIX}").update(pod)


def _resources(settings: PodSettings) -> dict[str, Any]:
    """Limits of a container; Kubernetes requests as much where no request is given.

    These are the fields that every release of Kubeflow Pipelines 2 reads.
    """
    resources: dict[str, Any] = {}
    if settings.cpu is not None:
        resources["cpuLimit"] = settings.cpu
    if settings.memory is not None:
        resources["memoryLimit"] = gigabytes(settings.memory)
    if settings.gpu:
        resources["accelerator"] = {
            "type": settings.gpu_resource or GPU,
            "count": str(settings.gpu),
        }
    return resources


def _pod(settings: PodSettings, cluster: KubeflowConfig) -> dict[str, Any]:
    """A ``KubernetesExecutorConfig`` as JSON; a secret's value never appears."""
    pod: dict[str, Any] = {}
    if cluster.queue is not None:
        pod["podMetadata"] = {"labels": {QUEUE_LABEL: cluster.queue}}
    if cluster.image_pull_secrets:
        pod["imagePullSecret"] = [
            {"secretName": name} for name in cluster.image_pull_secrets
        ]
    if cluster.secrets:
        pod["secretAsEnv"] = [
            {
                "secretName": secret.name,
                "keyToEnv": [
                    {"secretKey": entry, "envVar": variable}
                    for variable, entry in sorted(secret.env.items())
                ],
            }
            for secret in cluster.secrets
        ]
    if settings.node_selector:
        pod["nodeSelector"] = {"labels": dict(settings.node_selector)}
    if settings.tolerations:
        pod["tolerations"] = [
            toleration.model_dump(exclude_none=True)
            for toleration in settings.tolerations
        ]
    if settings.timeout_seconds is not None:
        # An int64, which JSON of a proto writes as text.
        pod["activeDeadlineSeconds"] = str(settings.timeout_seconds)
    return pod

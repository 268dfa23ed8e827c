"""An accelerator is asked for by the name of a Kubernetes resource.

TFX takes Vertex AI's names, such as ``NVIDIA_TESLA_T4``. Kubernetes knows no such
resource, and the pod stays pending for ever. The kind of GPU is a property of the node.
"""

from collections.abc import Iterator
from typing import Any

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault
from pipeline.kubeflow.names import resource_rule

RULE = "accelerator"
GPU = "nvidia.com/gpu"
# The label by which Google's clusters tell the kind; other clusters have their own,
# to be set as node_selector in the configuration.
KIND_LABEL = "cloud.google.com/gke-accelerator"


def repair(document: Document) -> None:
    """Asks for ``nvidia.com/gpu`` on nodes of the kind that was named."""
    for label, container in document.containers():
        accelerator = container.get("resources", {}).get("accelerator", {})
        kind = accelerator.get("type", "")
        if kind.startswith("NVIDIA_"):
            accelerator["type"] = GPU
            node_labels = document.pod(label).setdefault("nodeSelector", {})
            node_labels.setdefault("labels", {})[KIND_LABEL] = kind.lower().replace(
                "_", "-"
            )


def faults(document: Document) -> Iterator[Fault]:
    """Yields accelerators that are no resource of Kubernetes."""
    for label, container in document.containers():
        accelerator = container.get("resources", {}).get("accelerator")
        if accelerator is None:
            continue
        kind = _name(accelerator)
        # What a run's parameter decides is not known here.
        if "{{" not in kind and resource_rule(kind) is not None:
            yield Fault(
                RULE,
                f"deploymentSpec.executors.{label}.container.resources.accelerator",
                kind or "no type",
                f"no resource of Kubernetes; ask for {GPU} and select nodes by label",
            )


def _name(accelerator: dict[str, Any]) -> str:
    """The resource; ``resourceType`` wins where a newer kfp wrote both."""
    return str(accelerator.get("resourceType") or accelerator.get("type", ""))

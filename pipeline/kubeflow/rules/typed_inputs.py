"""Input artifacts reach the container without their types.

TFX's own entry point then stops at ``UnboundLocalError: title``. Ours fills the types
from the component's declaration before it hands over to TFX's.
"""

from collections.abc import Iterator

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault

RULE = "typed-inputs"
TFX_MODULE = "tfx.orchestration.kubeflow.v2.container.kubeflow_v2_run_executor"
ENTRY_POINT = "pipeline.kubeflow.entrypoint"


def repair(document: Document) -> None:
    """Puts our entry point in the place of TFX's."""
    for _, container in document.containers():
        command = container.get("command", [])
        container["command"] = [
            ENTRY_POINT if part == TFX_MODULE else part for part in command
        ]


def faults(document: Document) -> Iterator[Fault]:
    """Yields containers that start TFX's own entry point."""
    for label, container in document.containers():
        if TFX_MODULE in container.get("command", []):
            yield Fault(
                RULE,
                f"deploymentSpec.executors.{label}.container.command",
                TFX_MODULE,
                "it fails on inputs without types; start an entry point that fills "
                f"them, such as {ENTRY_POINT}",
            )

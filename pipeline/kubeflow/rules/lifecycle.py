"""``lifecycle.preCacheCheck`` is ignored: such a hook never runs.

TFX puts ExampleGen's driver there, which finds the span and the input files. Vertex AI
runs the hook, Kubeflow does not, and the executor then reads no such span. The entry
point runs the driver in the container instead (``pipeline.kubeflow.entrypoint``).
"""

from collections.abc import Iterator

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault

RULE = "lifecycle"


def repair(document: Document) -> None:
    """Hands the module of each hook to the entry point."""
    for _, container in document.containers():
        hook = container.pop("lifecycle", {}).get("preCacheCheck")
        if hook is not None:
            container["args"] += ["--driver", hook["command"][-1]]


def faults(document: Document) -> Iterator[Fault]:
    """Yields containers with a hook."""
    for label, container in document.containers():
        hook = container.get("lifecycle", {}).get("preCacheCheck")
        if hook is not None:
            yield Fault(
                RULE,
                f"deploymentSpec.executors.{label}.container.lifecycle.preCacheCheck",
                " ".join(hook.get("command", [])) or "{}",
                "Kubeflow never runs it; do its work in the container's command",
            )

"""Resolver and custom-job executors are refused: "not implemented".

TFX compiles its resolver for the latest blessed model to two tasks that query Vertex
AI's metadata store. Here one container reads a pointer to such models, a small file that
the entry point writes whenever one is blessed (``pipeline.kubeflow.blessed_model``).
"""

from collections.abc import Iterator
from typing import Any

from data.errors import ConfigError
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault
from pipeline.kubeflow.request import Request
from pipeline.kubeflow.rules.typed_inputs import ENTRY_POINT

RULE = "executor"
BLESSED_MODEL = "pipeline.kubeflow.blessed_model"
# How TFX names the two tasks of its resolver.
_BLESSING_SUFFIX = "-model-blessing-resolver"
_MODEL_SUFFIX = "-model-resolver"
_BLESSING_TITLE = "title: tfx.ModelBlessing\n"


def repair(document: Document, request: Request) -> None:
    """Replaces the resolvers by containers over the pointer.

    Args:
        document: the compiled pipeline.
        request: image of the new containers, the pointer, and the serving folder.

    Raises:
        ConfigError: a resolver of another kind.
    """
    resolvers = [
        label for label, one in document.executors.items() if "resolver" in one
    ]
    for label in resolvers:
        name = label.removesuffix("_executor")
        if name.endswith(_BLESSING_SUFFIX):
            _remove(document, name)
        elif name.endswith(_MODEL_SUFFIX):
            _read_pointer(document, name, request)
        else:
            raise ConfigError(
                f"component '{name}': Kubeflow runs no resolvers, and only that of the "
                "latest blessed model has a counterpart; take it out"
            )
    if resolvers:
        _write_pointer(document, request.blessed_model)


def _remove(document: Document, name: str) -> None:
    """Takes the query for the blessing out; the pointer answers both."""
    del document.executors[f"{name}_executor"]
    del document.components[name]
    for _, tasks in document.dags():
        tasks.pop(name, None)


def _read_pointer(document: Document, name: str, request: Request) -> None:
    """Makes a container of the query for the model."""
    document.executors[f"{name}_executor"] = {
        "container": {
            "image": request.image,
            "command": ["python", "-m", BLESSED_MODEL],
            "args": [
                *("--pointer", request.blessed_model),
                *("--serving", request.serving),
                *("--executor_input", "{{$}}"),
            ],
        }
    }
    document.components[name].pop("inputDefinitions", None)
    for _, task in document.tasks():
        if task["componentRef"]["name"] == name:
            task.pop("inputs", None)
            task.pop("dependentTasks", None)


def _write_pointer(document: Document, pointer: str) -> None:
    """Lets the entry point record the model where a component blesses one."""
    for component in document.components.values():
        container = _entry_point(document, component)
        outputs = component.get("outputDefinitions", {}).get("artifacts", {})
        titles = [
            output.get("artifactType", {}).get("instanceSchema", "")
            for output in outputs.values()
        ]
        if container and any(title.startswith(_BLESSING_TITLE) for title in titles):
            container["args"] += ["--blessed_model_pointer", pointer]


def _entry_point(document: Document, component: dict[str, Any]) -> dict[str, Any]:
    """The component's container if it starts our entry point; else an empty one."""
    executor = document.executors.get(component.get("executorLabel", ""), {})
    container: dict[str, Any] = executor.get("container", {})
    return container if ENTRY_POINT in container.get("command", []) else {}


def faults(document: Document) -> Iterator[Fault]:
    """Yields executors of kinds that do not run, and components without any."""
    for label, executor in sorted(document.executors.items()):
        for kind in ("resolver", "customJob"):
            if kind in executor:
                yield Fault(
                    RULE,
                    f"deploymentSpec.executors.{label}",
                    kind,
                    "only containers and importers run; replace it by a container",
                )
        if "container" in executor and not executor["container"].get("image"):
            yield Fault(
                RULE,
                f"deploymentSpec.executors.{label}.container.image",
                "",
                "must name an image; set it",
            )
    for place, task in document.tasks():
        component = document.component_of(task)
        runs = component.get("executorLabel")
        if "dag" not in component and runs not in document.executors:
            name = task.get("componentRef", {}).get("name", "none")
            yield Fault(
                RULE,
                f"{place}.componentRef",
                str(name),
                "no such component with an executor; add it to components and "
                "deploymentSpec.executors",
            )

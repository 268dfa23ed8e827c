"""Names must suit Argo Workflows, which runs the tasks.

It takes letters, digits and '-' for a task. TFX's node ids may hold '_' and '.', as in
``latest_blessed_model``, and come through as they are; the workflow is then refused.
"""

import re
from collections.abc import Iterator
from typing import Any

from data.errors import ConfigError
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault
from pipeline.kubeflow.names import (
    component_name_rule,
    parameter_name_rule,
    pipeline_name_rule,
    task_name_rule,
)

RULE = "names"


def cluster_name(name: str) -> str:
    """A node id as the cluster takes it: ``a_b.c`` becomes ``a-b-c``."""
    return re.sub(r"[^a-zA-Z0-9]+", "-", name).strip("-")


def repair(document: Document) -> None:
    """Renames tasks and components, and everything that points at them.

    Raises:
        ConfigError: two names become one.
    """
    for _, tasks in document.dags():
        _rename(tasks)
        for name, task in tasks.items():
            task["taskInfo"]["name"] = name
            task["componentRef"]["name"] = cluster_name(task["componentRef"]["name"])
            if "dependentTasks" in task:
                task["dependentTasks"] = sorted(
                    cluster_name(other) for other in task["dependentTasks"]
                )
            for source in sources(task):
                source["producerTask"] = cluster_name(source["producerTask"])
    _rename(document.components)


def _rename(named: dict[str, Any]) -> None:
    """Renames the keys of one mapping in place."""
    for name in list(named):
        new = cluster_name(name)
        if new != name:
            if new in named:
                raise ConfigError(
                    f"component '{name}': the cluster would know it as '{new}', which "
                    "there is already; give it another id"
                )
            named[new] = named.pop(name)


def sources(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The references of a task's inputs to other tasks."""
    inputs = task.get("inputs", {})
    for group in ("artifacts", "parameters"):
        for source in inputs.get(group, {}).values():
            for key in ("taskOutputArtifact", "taskOutputParameter", "taskFinalStatus"):
                if "producerTask" in source.get(key, {}):
                    yield source[key]


def faults(document: Document) -> Iterator[Fault]:
    """Yields names that the cluster refuses."""
    name = document.pipeline.get("pipelineInfo", {}).get("name", "")
    named = [("pipelineInfo.name", name, pipeline_name_rule(name))]
    named += [
        (f"{place}.{task}", task, task_name_rule(task))
        for place, tasks in document.dags()
        for task in sorted(tasks)
    ]
    named += [
        (f"components.{one}", one, component_name_rule(one))
        for one in sorted(document.components)
    ]
    named += [
        (f"root.inputDefinitions.parameters.{one}", one, parameter_name_rule(one))
        for one in sorted(document.parameters)
    ]
    for place, value, rule in named:
        if rule is not None:
            yield Fault(RULE, place, repr(value), rule)

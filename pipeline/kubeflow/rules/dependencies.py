"""Tasks must wait for tasks that there are, and never for themselves.

Argo starts a task when those it depends on are done. It refuses a workflow whose tasks
wait in a circle or for a task that the DAG lacks, and an input from such a task is
never made.
"""

import graphlib
from collections.abc import Iterator
from typing import Any

from data.errors import suggest
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault
from pipeline.kubeflow.rules.task_names import sources

RULE = "dependencies"


def faults(document: Document) -> Iterator[Fault]:
    """Yields unknown tasks that others wait for, and a circle of each DAG."""
    for place, tasks in document.dags():
        awaited = {name: _awaited(task) for name, task in sorted(tasks.items())}
        for name, others in awaited.items():
            for other in others:
                if other not in tasks:
                    yield Fault(
                        RULE,
                        f"{place}.{name}",
                        repr(other),
                        "no such task in this DAG, so the workflow is refused; correct "
                        f"dependentTasks and inputs.{suggest(other, tasks)}",
                    )
        try:
            graphlib.TopologicalSorter(awaited).prepare()
        except graphlib.CycleError as error:
            yield Fault(
                RULE,
                place,
                " -> ".join(error.args[1]),
                "each would wait for the next for ever; take one of dependentTasks out",
            )


def _awaited(task: dict[str, Any]) -> list[str]:
    """The tasks that must be done before this one."""
    producers = (source["producerTask"] for source in sources(task))
    return sorted({*task.get("dependentTasks", ()), *producers})

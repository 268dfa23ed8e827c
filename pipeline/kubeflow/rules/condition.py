"""A condition may only speak of the task's own inputs, and not stand on an importer.

TFX writes a ``Cond`` over a channel under an implicit key, ``_Producer.output``. Where
the channel is also a declared input the task has it under the input's name only, so the
condition reads a key that is not there and the driver fails.
"""

import re
from collections.abc import Iterator
from typing import Any

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault

RULE = "condition"
_KEY = re.compile(r"inputs\.(artifacts|parameters|parameter_values)\['([^']+)'\]")


def repair(document: Document) -> None:
    """Renames implicit keys to the inputs that hold the same artifact."""
    for _, task in document.tasks():
        policy = task.get("triggerPolicy", {})
        for _, key in _KEY.findall(policy.get("condition", "")):
            policy["condition"] = policy["condition"].replace(
                f"['{key}']", f"['{_input_key(task, key)}']"
            )


def _input_key(task: dict[str, Any], key: str) -> str:
    """The input with the artifact that an implicit key names; else the key itself."""
    artifacts = task.get("inputs", {}).get("artifacts", {})
    if key in artifacts:
        return key
    for name, source in sorted(artifacts.items()):
        output = source.get("taskOutputArtifact", {})
        if key == f"_{output.get('producerTask')}.{output.get('outputArtifactKey')}":
            return str(name)
    return key


def faults(document: Document) -> Iterator[Fault]:
    """Yields conditions on missing inputs and on importers."""
    for place, task in document.tasks():
        condition = task.get("triggerPolicy", {}).get("condition", "")
        where = f"{place}.triggerPolicy.condition"
        for kind, key in _KEY.findall(condition):
            group = "artifacts" if kind == "artifacts" else "parameters"
            if key not in task.get("inputs", {}).get(group, {}):
                yield Fault(
                    RULE,
                    where,
                    f"inputs.{kind}['{key}']",
                    f"the task has no such input; add it to inputs.{group}, or name "
                    "the input that holds it",
                )
        label = document.component_of(task).get("executorLabel", "")
        if condition and "importer" in document.executors.get(label, {}):
            yield Fault(
                RULE,
                where,
                condition,
                "an importer cannot be conditional; put the condition on its consumers",
            )

"""TFX loses the defaults of RuntimeParameters in its YAML.

A run that does not name such a parameter is refused: "is not optional, yet has neither
default value nor user provided value"; so is every run of a schedule.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault

RULE = "parameter-default"


def repair(document: Document, defaults: Mapping[str, Any]) -> None:
    """Writes the defaults.

    Args:
        document: the compiled pipeline.
        defaults: value by name of the parameter; others stay as they are.
    """
    for name, definition in document.parameters.items():
        if name in defaults:
            definition["defaultValue"] = defaults[name]


def faults(document: Document) -> Iterator[Fault]:
    """Yields parameters that a run must name."""
    for name, definition in sorted(document.parameters.items()):
        if "defaultValue" not in definition and not definition.get("isOptional"):
            yield Fault(
                RULE,
                f"root.inputDefinitions.parameters.{name}",
                "no defaultValue",
                "a run or schedule that does not name it is refused; add one, or set "
                "isOptional",
            )

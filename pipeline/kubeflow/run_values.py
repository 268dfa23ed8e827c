"""Values of a run's parameters, from the command line to what the spec declares."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from data.errors import ConfigError, UsageError, suggest
from pipeline.kubeflow.document import Document


def run_values(document: Document, given: Mapping[str, str]) -> dict[str, Any]:
    """Parameters of a run, from text to the types that the spec declares.

    Args:
        document: the compiled pipeline.
        given: texts by name.

    Returns:
        Values by name.

    Raises:
        UsageError: the spec has no such parameter.
        ConfigError: a text is not of its type.
    """
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in document.parameters:
            known = ", ".join(sorted(document.parameters)) or "none"
            raise UsageError(
                f"--parameter {name}: the pipeline has no such parameter. Known: "
                f"{known}.{suggest(name, document.parameters)}"
            )
        kind = document.parameters[name]["parameterType"]
        try:
            values[name] = _READERS.get(kind, str)(text)
        except (KeyError, ValueError):
            raise ConfigError(
                f"--parameter {name}: must be of type {kind}, got {text!r}"
            ) from None
    return values


def _json(kind: type) -> Callable[[str], Any]:
    """Reads JSON of one type."""

    def read(text: str) -> Any:
        value = json.loads(text)
        if not isinstance(value, kind):
            raise ValueError
        return value

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "NUMBER_INTEGER": int,
    "NUMBER_DOUBLE": float,
    "BOOLEAN": lambda text: {"true": True, "false": False}[text.lower()],
    "LIST": _json(list),
    "STRUCT": _json(dict),
}

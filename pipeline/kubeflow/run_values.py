"""Values of a run's parameters, from the command line to what the spec declares."""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from data.errors import ConfigError, UsageError, suggest
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.places import placeholder_rule, shown, source_rule
from pipeline.kubeflow.run_parameters import MOST, value_rule

_WHOLE = re.compile(r"[-+]?[0-9]{1,16}")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,300}(\.[0-9]{0,300})?([eE][-+]?[0-9]{1,3})?")
# Where ExampleGen reads the log, by whatever name the run knows it.
_LOG = "input_base"


def run_values(document: Document, given: Mapping[str, str]) -> dict[str, Any]:
    """Parameters of a run, from text to the types that the spec declares.

    Args:
        document: the compiled pipeline.
        given: texts by name.

    Returns:
        Values by name.

    Raises:
        UsageError: the spec has no such parameter.
        ConfigError: a text is not of its type, or the component would refuse it.
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
            value = _READERS.get(kind, str)(text)
        except (KeyError, ValueError, RecursionError):
            raise ConfigError(
                f"--parameter {name}: must be of type {kind}, got {text!r}"
            ) from None
        keys = _keys(document, name)
        rules = [placeholder_rule(text), *(value_rule(key, value) for key in keys)]
        if _LOG in keys:
            rules.append(source_rule(text))
        broken = next(filter(None, rules), None)
        if broken is not None:
            got = shown(text) if _LOG in keys else repr(text)
            raise ConfigError(f"--parameter {name}: {broken}, got {got}")
        values[name] = value
    return values


def _keys(document: Document, name: str) -> set[str]:
    """What the components call a parameter of the run."""
    return {
        key
        for _, task in document.tasks()
        for key, source in task.get("inputs", {}).get("parameters", {}).items()
        if source.get("componentInputParameter") == name
    }


def _whole(text: str) -> int:
    """Reads a whole number that a double holds."""
    if not _WHOLE.fullmatch(text) or abs(int(text)) > MOST:
        raise ValueError
    return int(text)


def _decimal(text: str) -> float:
    """Reads a finite number."""
    if not _DECIMAL.fullmatch(text) or not math.isfinite(float(text)):
        raise ValueError
    return float(text)


def _no_number(text: str) -> NoReturn:
    """Refuses NaN and the infinities, which are no JSON."""
    raise ValueError(text)


def _json(kind: type) -> Callable[[str], Any]:
    """Reads JSON of one type."""

    def read(text: str) -> Any:
        value = json.loads(text, parse_constant=_no_number)
        if not isinstance(value, kind):
            raise ValueError
        return value

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "NUMBER_INTEGER": _whole,
    "NUMBER_DOUBLE": _decimal,
    "BOOLEAN": lambda text: {"true": True, "false": False}[text.lower()],
    "LIST": _json(list),
    "STRUCT": _json(dict),
}

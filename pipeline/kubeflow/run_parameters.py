"""What a run can be given beside the constants of components: epochs and span.

Both lie inside of JSON texts that TFX hands to a component, so no single constant of the
spec stands for them. The compiled spec declares them as parameters of the run; the entry
point writes the values into those texts before the component starts.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from data.errors import ConfigError, RunError
from pipeline.kubeflow.document import Document

EPOCHS = "epochs"
SPAN = "span"
# The newest folder of the log, as without this parameter.
LATEST = "latest"
_SPAN_MARK = "{SPAN}"
_DIGITS = re.compile(r"[0-9]{1,16}")
# A run's numbers are doubles of JSON, which hold each whole one up to this.
MOST = 2**53


@dataclass(frozen=True, kw_only=True)
class RunParameter:
    """A parameter of the run.

    Attributes:
        component: the component that gets it.
        type: as the schema names it.
        default: what a run has that does not name the parameter.
    """

    component: str
    type: str
    default: Any


def run_parameters(epochs: int, input_base: str) -> dict[str, RunParameter]:
    """Finds the parameters that a pipeline can take.

    Args:
        epochs: of the configuration's training.
        input_base: folder or pattern of the log; only one with ``{SPAN}`` has spans.

    Returns:
        Parameters by name.

    Raises:
        ConfigError: no run could be given so many epochs.
    """
    if rule := value_rule(EPOCHS, epochs):
        raise ConfigError(f"train.epochs: {rule}, got {epochs}")
    found = {
        EPOCHS: RunParameter(
            component="Trainer",
            type="NUMBER_INTEGER",
            default=epochs,
        )
    }
    if _SPAN_MARK in input_base:
        found[SPAN] = RunParameter(
            component="ClickLogExampleGen", type="STRING", default=LATEST
        )
    return found


def declare(document: Document, parameters: dict[str, RunParameter]) -> None:
    """Declares parameters at the run and at their components.

    Args:
        document: the compiled pipeline, its tasks named as TFX does.
        parameters: what ``run_parameters`` found.
    """
    root = document.pipeline["root"]
    for name, parameter in parameters.items():
        task = root["dag"]["tasks"][parameter.component]
        for component in (root, document.component_of(task)):
            definitions = component.setdefault("inputDefinitions", {})
            definitions.setdefault("parameters", {})[name] = {
                "parameterType": parameter.type
            }
        root["inputDefinitions"]["parameters"][name]["defaultValue"] = parameter.default
        inputs = task.setdefault("inputs", {}).setdefault("parameters", {})
        inputs[name] = {"componentInputParameter": name}


def value_rule(name: str, value: Any) -> str | None:
    """The rule that a value of one of these parameters breaks.

    Args:
        name: of the parameter; others have no rule here.
        value: as the run has it.

    Returns:
        The rule, or None.
    """
    if name == EPOCHS and not _is_whole(value, least=1):
        return "must be a whole number from 1 to 2^53"
    if name == SPAN and value != LATEST and not _is_whole(value, least=0):
        return f"must be {LATEST} or a whole number from 0 to 2^53"
    return None


def apply(values: dict[str, Any]) -> None:
    """Writes the values of a run into what TFX hands to the component, in place.

    Args:
        values: the component's parameters; those of the run are taken out.

    Raises:
        RunError: a value is out of its range.
    """
    for name in (EPOCHS, SPAN):
        if name in values and (rule := value_rule(name, values[name])):
            raise RunError(
                f"run parameter {name}: {rule}, got {values[name]!r}; start the run "
                "with another"
            )
    if EPOCHS in values:
        custom = json.loads(values["custom_config"])
        train = json.loads(custom["train"])
        train["epochs"] = int(values.pop(EPOCHS))
        custom["train"] = json.dumps(train)
        values["custom_config"] = json.dumps(custom)
    span = values.pop(SPAN, LATEST)
    if span != LATEST:
        number = int(span)
        values["range_config"] = json.dumps(
            {
                "static_range": {
                    "start_span_number": number,
                    "end_span_number": number,
                }
            }
        )


def _is_whole(value: Any, *, least: int) -> bool:
    """Whether a number, or its digits, is a whole one that a double holds."""
    if isinstance(value, str):
        return bool(_DIGITS.fullmatch(value)) and _is_whole(int(value), least=least)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and least <= value <= MOST and value == int(value)

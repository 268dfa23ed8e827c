"""What a run can be given beside the constants of components: epochs and span.

Both lie inside of JSON texts that TFX hands to a component, so no single constant of the
spec stands for them. The compiled spec declares them as parameters of the run; the entry
point writes the values into those texts before the component starts.
"""

import json
from dataclasses import dataclass
from typing import Any

from data.errors import RunError
from pipeline.kubeflow.document import Document

EPOCHS = "epochs"
SPAN = "span"
# The newest folder of the log, as without this parameter.
LATEST = "latest"
_SPAN_MARK = "{SPAN}"


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
    """
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


def apply(values: dict[str, Any]) -> None:
    """Writes the values of a run into what TFX hands to the component, in place.

    Args:
        values: the component's parameters; those of the run are taken out.

    Raises:
        RunError: a value is out of its range.
    """
    if EPOCHS in values:
        custom = json.loads(values["custom_config"])
        train = json.loads(custom["train"])
        train["epochs"] = _number(EPOCHS, values.pop(EPOCHS), least=1)
        custom["train"] = json.dumps(train)
        values["custom_config"] = json.dumps(custom)
    span = values.pop(SPAN, LATEST)
    if span != LATEST:
        number = _number(SPAN, span, least=0)
        values["range_config"] = json.dumps(
            {
                "static_range": {
                    "start_span_number": number,
                    "end_span_number": number,
                }
            }
        )


def _number(name: str, value: Any, *, least: int) -> int:
    """A whole number of a run's parameter."""
    try:
        number = int(value)
        if isinstance(value, bool) or number != float(value) or number < least:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise RunError(
            f"run parameter {name}: must be a whole number of at least {least}, got "
            f"{value!r}; start the run with another"
        ) from None
    return number

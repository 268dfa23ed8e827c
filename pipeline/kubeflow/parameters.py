"""Parameters of a run: what a compiled pipeline can be given anew each time."""

from collections.abc import Mapping

from data.errors import ConfigError, suggest
from pipeline.kubeflow.document import Document


def expose(document: Document, parameters: Mapping[str, str]) -> None:
    """Turns constants of components into parameters of the run.

    The compiled value becomes the default, so a run that names none is the same.

    Args:
        document: the compiled pipeline, its tasks named as TFX does.
        parameters: name of the parameter -> ``Component.parameter``.

    Raises:
        ConfigError: no such component or parameter.
    """
    tasks = document.pipeline["root"]["dag"]["tasks"]
    for name, target in parameters.items():
        place = f"kubeflow.parameters.{name}"
        component, _, key = target.rpartition(".")
        if component not in tasks:
            raise ConfigError(
                f"{place}: no component '{component}'. Known: "
                f"{', '.join(sorted(tasks))}.{suggest(component, tasks)}"
            )
        constants = {
            one: value["runtimeValue"]["constant"]
            for one, value in tasks[component]["inputs"].get("parameters", {}).items()
            if "constant" in value.get("runtimeValue", {})
        }
        if key not in constants:
            raise ConfigError(
                f"{place}: {component} has no parameter '{key}'. Known: "
                f"{', '.join(sorted(constants))}.{suggest(key, constants)}"
            )
        definitions = document.pipeline["root"].setdefault("inputDefinitions", {})
        exposed = definitions.setdefault("parameters", {})
        if name in exposed:
            raise ConfigError(
                f"{place}: every run has a parameter of this name; choose another"
            )
        declared = document.component_of(tasks[component])["inputDefinitions"]
        exposed[name] = {
            "parameterType": declared["parameters"][key]["parameterType"],
            "defaultValue": constants[key],
        }
        tasks[component]["inputs"]["parameters"][key] = {
            "componentInputParameter": name
        }

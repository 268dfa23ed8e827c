"""What a component's container runs: prepares the input for TFX's own entry point.

Open-source Kubeflow hands a container less than Vertex AI does. This fills the types of
the inputs, leaves inputs out that stand for "none yet", makes the folders of outputs,
runs ExampleGen's driver, and turns URIs of object stores into the pod's folders and
back. TFX's entry point does the rest.
"""

import argparse
import importlib
import json
from collections.abc import Sequence
from typing import Any

from tfx.dsl.io import fileio

from pipeline.kubeflow import storage
from pipeline.kubeflow.blessed_model import NONE_YET, blessed_model, write_pointer

# What Kubeflow adds to the metadata of artifacts and TFX does not know.
_FOREIGN = ("display_name", "store_session_info")
_SERVING = ("filesystem", "base_directory")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one component.

    Args:
        arguments: those of TFX's entry point, ours, and flags of Beam.
    """
    options, beam_args = _parser().parse_known_args(arguments)
    executor_input = prepared(options.executor_input, json.loads(options.inputs_spec))
    _make_folders(executor_input["outputs"]["artifacts"])
    pushes_to = _localize_parameters(executor_input)
    if options.driver:
        _run_driver(options.driver, executor_input, options.inputs_spec)
    from tfx.orchestration.kubeflow.v2.container import kubeflow_v2_run_executor

    kubeflow_v2_run_executor.main((_tfx(options, executor_input), beam_args))
    output = _publish_output(executor_input["outputs"]["outputFile"])
    if pushes_to is not None:
        storage.put(storage.to_local(pushes_to), pushes_to)
    blessed = blessed_model(output)
    if options.blessed_model_pointer and blessed is not None:
        write_pointer(options.blessed_model_pointer, blessed)


def _parser() -> argparse.ArgumentParser:
    """The arguments that the compiled spec passes."""
    # Abbreviations would swallow flags of Beam.
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--executor_class_path", required=True)
    parser.add_argument(
        "--json_serialized_invocation_args",
        dest="executor_input",
        required=True,
        type=json.loads,
    )
    parser.add_argument(
        "--json_serialized_inputs_spec_args", dest="inputs_spec", default="{}"
    )
    parser.add_argument("--driver", help="Module that runs before the executor.")
    parser.add_argument("--blessed_model_pointer")
    return parser


def prepared(
    executor_input: dict[str, Any], inputs_spec: dict[str, Any]
) -> dict[str, Any]:
    """The input as TFX's entry point wants it.

    Args:
        executor_input: what Kubeflow passed, an ``ExecutorInput`` as JSON.
        inputs_spec: declared inputs of the component, a ``ComponentInputsSpec``.

    Returns:
        The input with types and local paths, without what is not there yet.
    """
    inputs = executor_input.get("inputs", {})
    present = {
        key: {"artifacts": [_typed(one, _declared(inputs_spec, key)) for one in found]}
        for key, group in inputs.get("artifacts", {}).items()
        if (found := [one for one in group.get("artifacts", []) if _is_there(one)])
    }
    outputs = executor_input["outputs"]
    return {
        "inputs": inputs | {"artifacts": storage.to_local(present)},
        "outputs": outputs
        | {"artifacts": storage.to_local(outputs.get("artifacts", {}))},
    }


def _is_there(artifact: dict[str, Any]) -> bool:
    """Whether an artifact stands for more than "none yet"."""
    return NONE_YET not in artifact.get("metadata", {})


def _declared(inputs_spec: dict[str, Any], key: str) -> dict[str, Any]:
    """The declared type of an input."""
    declared: dict[str, Any] = inputs_spec.get("artifacts", {}).get(key, {})
    return dict(declared.get("artifactType", {}))


def _typed(artifact: dict[str, Any], declared: dict[str, Any]) -> dict[str, Any]:
    """An artifact with its declared type, unless it has one of TFX's."""
    kind = artifact.get("type", {})
    is_typed = kind.get("instanceSchema") or kind.get("schemaTitle", "").startswith(
        "tfx."
    )
    metadata = {
        key: value
        for key, value in artifact.get("metadata", {}).items()
        if key not in _FOREIGN
    }
    return artifact | {"type": kind if is_typed else declared, "metadata": metadata}


def _make_folders(outputs: dict[str, Any]) -> None:
    """Makes the folder of each output, as TFX's local runner does."""
    for group in outputs.values():
        for artifact in group["artifacts"]:
            fileio.makedirs(artifact["uri"])


def _localize_parameters(executor_input: dict[str, Any]) -> str | None:
    """Makes the log and the place of pushed versions local, in place.

    Args:
        executor_input: the prepared input.

    Returns:
        Where pushed versions go in an object store, None if they do not.
    """
    parameters = executor_input["inputs"].get("parameterValues", {})
    log = parameters.get("input_base", "")
    if storage.needs_arrow(log):
        parameters["input_base"] = storage.to_local(log)
        storage.fetch(log, parameters["input_base"])
    if "push_destination" not in parameters:
        return None
    destination = json.loads(parameters["push_destination"])
    group, key = _SERVING
    folder = str(destination.get(group, {}).get(key, ""))
    if not storage.needs_arrow(folder):
        return None
    destination[group][key] = storage.to_local(folder)
    parameters["push_destination"] = json.dumps(destination)
    return folder


def _run_driver(module: str, executor_input: dict[str, Any], inputs_spec: str) -> None:
    """Runs ExampleGen's driver and takes its findings over.

    Parameters it sets are read from the output file by TFX's entry point; the span and
    fingerprint of the artifact are not.
    """
    importlib.import_module(module).main(
        argparse.Namespace(
            json_serialized_invocation_args=json.dumps(executor_input),
            json_serialized_inputs_spec_args=inputs_spec,
        )
    )
    with fileio.open(executor_input["outputs"]["outputFile"], "r") as file:
        found = json.loads(file.read()).get("artifacts", {})
    for key, group in found.items():
        artifact = executor_input["outputs"]["artifacts"][key]["artifacts"][0]
        metadata = group["artifacts"][0].get("metadata", {})
        artifact["metadata"] = artifact.get("metadata", {}) | metadata


def _tfx(
    options: argparse.Namespace, executor_input: dict[str, Any]
) -> argparse.Namespace:
    """The arguments of TFX's entry point."""
    return argparse.Namespace(
        executor_class_path=options.executor_class_path,
        json_serialized_invocation_args=json.dumps(executor_input),
        json_serialized_inputs_spec_args=options.inputs_spec,
    )


def _publish_output(path: str) -> dict[str, Any]:
    """Writes URIs of the object store into what the component wrote.

    Args:
        path: the output file.

    Returns:
        Its content, an ``ExecutorOutput`` as JSON.
    """
    with fileio.open(path, "r") as file:
        output: dict[str, Any] = storage.to_remote(json.loads(file.read()))
    with fileio.open(path, "w") as file:
        file.write(json.dumps(output))
    return output


if __name__ == "__main__":
    main()

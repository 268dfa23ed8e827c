"""What a component's container runs: prepares the input for TFX's own entry point.

Open-source Kubeflow hands a container less than Vertex AI does. This fills the types of
the inputs, leaves inputs out that stand for "none yet", makes the folders of outputs,
writes parameters of the run to where the component reads them, runs ExampleGen's
driver, and turns URIs of object stores into the pod's folders and back. TFX's entry
point does the rest.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from typing import Any

from data import paths
from pipeline.kubeflow import run_parameters, storage
from pipeline.kubeflow.blessed_model import NONE_YET, blessed_model, write_pointer
from pipeline.kubeflow.light_imports import tfx_entry_point

# What Kubeflow adds to the metadata of artifacts and TFX does not know.
_FOREIGN = ("display_name", "store_session_info")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one component.

    Args:
        arguments: those of TFX's entry point, ours, and flags of Beam.
    """
    options, beam_args = _parser().parse_known_args(arguments)
    executor_input = prepared(options.executor_input, json.loads(options.inputs_spec))
    _make_folders(executor_input["outputs"]["artifacts"])
    run_parameters.apply(executor_input["inputs"].get("parameterValues", {}))
    tfx = tfx_entry_point(options.executor_class_path)
    from components.object_store import register
    from components.row_batches import batch_by_size

    register()
    batch_by_size()
    if options.driver:
        _run_driver(options.driver, executor_input, options.inputs_spec)
    tfx.main((_tfx(options, executor_input), beam_args))
    output = _publish_output(executor_input["outputs"]["outputFile"])
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
            paths.make_dirs(artifact["uri"])


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
    with paths.open_read(executor_input["outputs"]["outputFile"]) as file:
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
    with paths.open_read(path) as file:
        output: dict[str, Any] = storage.to_remote(json.loads(file.read()))
    with paths.open_write(path) as file:
        file.write(json.dumps(output).encode())
    return output


def _main() -> None:
    """Runs the component; an error of our own ends in one line, not in a traceback."""
    try:
        main()
    except Exception as error:
        from components.example_gen.run import user_error

        own = user_error(error)
        if own is None:
            raise
        sys.stderr.write(f"error: {own}\n")
        sys.exit(own.exit_code)


if __name__ == "__main__":
    _main()

"""The pointer to the latest blessed model, and the container that follows it.

The pointer is a JSON file under the pipeline root, ``{"model": URI}``. The container
copies the model into this run: Kubeflow's launcher refuses an output that lies outside
of the run ("does not have expected bucket prefix"). Before the first blessing the
output stays empty and says so, and the entry point gives consumers no such input.
"""

import argparse
import json
import logging
from collections.abc import Sequence
from typing import Any

from data import paths
from pipeline.kubeflow import storage

_LOG = logging.getLogger(__name__)
# Metadata of an artifact that stands for "none yet".
NONE_YET = "none_yet"


def read_pointer(pointer: str) -> str | None:
    """URI of the latest blessed model; None before the first blessing."""
    if not paths.exists(pointer):
        return None
    with paths.open_read(pointer) as file:
        return str(json.loads(file.read())["model"])


def write_pointer(pointer: str, model: str) -> None:
    """Makes a model the latest blessed one."""
    with paths.open_write(pointer) as file:
        file.write(json.dumps({"model": model}).encode())


def blessed_model(executor_output: dict[str, Any]) -> str | None:
    """The model that a component has blessed.

    Args:
        executor_output: what the component wrote for Kubeflow.

    Returns:
        The model's URI, or None if it blessed none.
    """
    for outputs in executor_output.get("artifacts", {}).values():
        for artifact in outputs.get("artifacts", []):
            metadata = artifact.get("metadata", {})
            if metadata.get("blessed") == 1 and metadata.get("current_model"):
                return str(metadata["current_model"])
    return None


def main(arguments: Sequence[str] | None = None) -> None:
    """Copies the latest blessed model to the output, or marks that there is none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pointer", required=True)
    parser.add_argument("--executor_input", required=True, type=json.loads)
    options = parser.parse_args(arguments)
    outputs = options.executor_input["outputs"]
    ((key, artifacts),) = outputs["artifacts"].items()
    artifact = artifacts["artifacts"][0]
    model = read_pointer(options.pointer)
    _LOG.info("latest blessed model: %s", model or "none yet")
    if model is None:
        artifact = artifact | {"metadata": {NONE_YET: "true"}}
    else:
        paths.copy_tree(model, storage.to_local(artifact["uri"]))
    written = {"artifacts": {key: {"artifacts": [artifact]}}}
    with paths.open_write(outputs["outputFile"]) as file:
        file.write(json.dumps(written).encode())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main()

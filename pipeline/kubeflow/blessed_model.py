"""The pointer to the latest blessed models, and the container that follows it.

The pointer is a JSON file under the pipeline root, ``{"models": [URI, ...]}``, the newest
last: a roll-back withdraws models from serving, and the baseline is then the newest of
the others. The container copies the model into this run: Kubeflow's launcher refuses an
output that lies outside of the run ("does not have expected bucket prefix"). Without a
model the output stays empty and says so, and the entry point gives consumers no such
input.
"""

import argparse
import json
import logging
from collections.abc import Sequence
from typing import Any

from components.withdrawals import tree_digest, withdrawn_models
from data import paths
from data.errors import DataError
from pipeline.kubeflow import storage

_LOG = logging.getLogger(__name__)
# Metadata of an artifact that stands for "none yet".
NONE_YET = "none_yet"
# Folder of the SavedModel in an artifact of TFX's type Model.
_MODEL = "Format-Serving"
# As many roll-backs in a row find a baseline.
_KEPT = 20


def read_pointer(pointer: str) -> list[str]:
    """Reads the pointer.

    Args:
        pointer: the file.

    Returns:
        URIs of the latest blessed models, the newest last; none before the first.

    Raises:
        DataError: the file is damaged.
    """
    if not paths.exists(pointer):
        return []
    with paths.open_read(pointer) as file:
        content = file.read()
    try:
        return [str(model) for model in json.loads(content)["models"]]
    except (ValueError, KeyError, TypeError):
        raise DataError(
            f"{pointer}: not a list of blessed models; remove it to begin anew"
        ) from None


def write_pointer(pointer: str, model: str) -> None:
    """Makes a model the latest blessed one."""
    try:
        others = [one for one in read_pointer(pointer) if one != model]
    except DataError:  # what is damaged is of no use any more
        others = []
    with paths.open_write(pointer) as file:
        file.write(json.dumps({"models": [*others, model][-_KEPT:]}).encode())


def baseline(pointer: str, serving: str) -> str | None:
    """The model to compare with: the latest blessed one that was not withdrawn.

    Args:
        pointer: the pointer.
        serving: folder of the pushed versions, where a roll-back notes what it withdrew.

    Returns:
        The model's URI, or None if there is none.

    Raises:
        DataError: the list of withdrawn models cannot be read.
    """
    models = reversed(read_pointer(pointer))
    withdrawn = withdrawn_models(serving)
    if not withdrawn:
        return next(models, None)
    kept = (one for one in models if tree_digest(f"{one}/{_MODEL}") not in withdrawn)
    return next(kept, None)


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
    parser.add_argument("--serving", required=True)
    parser.add_argument("--executor_input", required=True, type=json.loads)
    options = parser.parse_args(arguments)
    outputs = options.executor_input["outputs"]
    ((key, artifacts),) = outputs["artifacts"].items()
    artifact = artifacts["artifacts"][0]
    model = baseline(options.pointer, options.serving)
    _LOG.info("baseline: %s", model or "none yet")
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

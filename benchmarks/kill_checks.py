"""What must hold of a pipeline's folder after a run that followed a killed one."""

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from ml_metadata.proto import metadata_store_pb2 as pb

from components.withdrawals import tree_digest
from data.manifest import MANIFEST_FILE
from data.shards import verify_manifest
from pipeline.cli.main import cli
from pipeline.local_runner import Folders
from pipeline.metadata_store import open_store

# Relative: rows are trained on and evaluated in the same batches, on one thread.
TOLERANCE = 1e-9
_GRAPH = "saved_model.pb"
_ENDED = (pb.Execution.COMPLETE, pb.Execution.FAILED)


def faults_after(
    root: Path, result: dict[str, Any], expected: dict[str, Any]
) -> list[str]:
    """Looks for all that is not as after an undisturbed run.

    Args:
        root: folder of all runs.
        result: summary of the last run.
        expected: summary of the same run undisturbed.

    Returns:
        A line for each fault.
    """
    folders = Folders((root / result["pipeline"]).resolve())
    return [
        *_rows(result, expected),
        *_metrics(result, expected),
        *_artifacts(folders),
        *_models(folders.base),
        *_serving(folders.serving, result["pushed"]),
        *_commands(root, result["run"]),
    ]


def bits(result: dict[str, Any]) -> dict[str, str]:
    """What equal runs have in common to the last bit, where nothing follows the clock.

    Args:
        result: summary of a run.

    Returns:
        Digests of the model's weights and of the metrics of all slices.
    """
    weights = Path(result["model"], "Format-Serving", "variables").glob("*.data-*")
    contents = {
        "weights": b"".join(one.read_bytes() for one in sorted(weights)),
        "metrics": json.dumps(result["slices"], sort_keys=True).encode(),
    }
    return {name: hashlib.sha256(one).hexdigest() for name, one in contents.items()}


def _metrics(result: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    """Metrics of a slice that are not those of the undisturbed run."""
    for ours, theirs in zip(result["slices"], expected["slices"], strict=True):
        for name, estimate in theirs["metrics"].items():
            value, wanted = ours["metrics"][name]["value"], estimate["value"]
            if wanted is None or value is None:
                same = value is wanted
            else:
                same = math.isclose(value, wanted, rel_tol=TOLERANCE)
            if not same:
                yield f"{name} of {ours['slice']}: {value}, undisturbed {wanted}"


def _rows(result: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    """Other rows than those of the log, anywhere on their way."""
    data = result["data"]
    if data != expected["data"]:
        yield "manifest: differs from that of an undisturbed run"
    splits = sum(split["rows"] for split in data["splits"].values())
    rows = result["config"]["simulate"]["rows"]
    if not data["rows_read"] == splits + data["rows_quarantined"] == rows:
        yield f"data: {splits} of {rows} rows written"
    trained = result["training"]["examples"]
    if trained != data["splits"]["train"]["rows"]:
        yield f"training: {trained} rows"


def _artifacts(folders: Folders) -> Iterator[str]:
    """Executions without an end, live artifacts that are damaged, folders of nobody."""
    store = open_store(folders.metadata)
    for execution in store.get_executions():
        if execution.last_known_state not in _ENDED:
            state = pb.Execution.State.Name(execution.last_known_state)
            yield f"execution {execution.id}: {state}"
    named = set()
    for artifact in store.get_artifacts():
        folder = Path(artifact.uri)
        named.add(folder)
        if artifact.state == pb.Artifact.LIVE:
            yield from _artifact(artifact.type, folder)
    for folder in folders.artifacts.glob("[!.]*/[!.]*/*"):
        if folder not in named:
            yield f"{folder.relative_to(folders.base)}: belongs to no artifact"


def _artifact(kind: str, folder: Path) -> Iterator[str]:
    """What is wrong with a live artifact."""
    # The Evaluator has no thresholds, so TFX leaves its own blessing empty.
    if not folder.is_dir() or not (any(folder.iterdir()) or kind == "ModelBlessing"):
        yield f"{kind} {folder}: absent or empty"
    if (folder / MANIFEST_FILE).exists():
        for file, fault in verify_manifest(str(folder)):
            if fault is not None:
                yield f"{kind} {folder}/{file}: {fault}"


def _serving(folder: Path, pushed: str) -> Iterator[str]:
    """What killed pushes left, and another newest version than the last one pushed."""
    for left in folder.glob(".push-*"):
        yield f"{left.name}: left in the serving folder"
    newest = max(int(one.name) for one in folder.iterdir() if one.name.isdigit())
    if newest != int(Path(pushed).name):
        yield f"serving: {newest} is newest, {pushed} was pushed last"


def _models(base: Path) -> Iterator[str]:
    """SavedModels that do not load, served versions among them; equal ones once."""
    import tensorflow as tf

    found = {tree_digest(str(one.parent)): one.parent for one in base.rglob(_GRAPH)}
    for folder in (base / "serving").glob("[0-9]*"):
        if not (folder / _GRAPH).exists():
            yield f"{folder}: no SavedModel"
    for folder in found.values():
        try:
            tf.saved_model.load(str(folder))
        except Exception as error:
            yield f"{folder}: {str(error).splitlines()[0]}"


def _commands(root: Path, run_id: str) -> Iterator[str]:
    """``ctr runs`` that fails or does not know the last run."""
    for arguments in (["list"], ["show", run_id]):
        command = ["runs", *arguments, "--root", str(root), "--json"]
        done = CliRunner().invoke(cli, command)
        if done.exit_code or run_id not in done.output:
            yield f"ctr {' '.join(command)}: exit code {done.exit_code}"

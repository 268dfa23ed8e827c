"""Runs a compiled PipelineSpec as Kubeflow's driver and launcher do, without a cluster.

Each container's own command runs as a subprocess. Like the real ones, this hands inputs
over untyped and with metadata of its own, and refuses outputs outside of the run. Under
a pipeline root in a store each container finds its inputs in folders of its own, and
only its outputs go back.
"""

import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from data import paths
from pipeline.kubeflow.document import Document

ROOT = Path(__file__).resolve().parents[3]


class Interpreter:
    """One pipeline root, over several runs."""

    def __init__(self, document: Document, folder: Path) -> None:
        self._document = document
        self._folder = folder
        self._root = document.pipeline["defaultPipelineRoot"]

    def run(self, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Runs every task; returns output artifacts by task and key."""
        values = {
            name: (parameters or {}).get(name, one["defaultValue"])
            for name, one in self._document.parameters.items()
        }
        run = f"{self._root}/{self._document.pipeline['pipelineInfo']['name']}"
        run = f"{run}/{uuid.uuid4().hex}"
        left = dict(self._document.pipeline["root"]["dag"]["tasks"])
        done: dict[str, Any] = {}
        while left:
            name = next(n for n, t in sorted(left.items()) if _needs(t) <= set(done))
            done[name] = self._task(name, left.pop(name), values, done, run)
        return done

    def _task(self, name, task, values, done, run) -> dict[str, Any]:
        """Runs one container; returns its output artifacts by key."""
        component = self._document.component_of(task)
        outputs = component.get("outputDefinitions", {}).get("artifacts", {})
        output_file = self._folder / "outputs" / uuid.uuid4().hex / "output.json"
        artifacts = {
            key: {
                "uri": f"{run}/{name}/{key}",
                "type": one["artifactType"],
                "name": key,
            }
            for key, one in outputs.items()
        }
        executor_input = {
            "inputs": {
                "parameterValues": {
                    key: values[one["componentInputParameter"]]
                    if "componentInputParameter" in one
                    else one["runtimeValue"]["constant"]
                    for key, one in task.get("inputs", {}).get("parameters", {}).items()
                },
                "artifacts": {
                    key: {"artifacts": [_handed_over(done, one["taskOutputArtifact"])]}
                    for key, one in task.get("inputs", {}).get("artifacts", {}).items()
                },
            },
            "outputs": {
                "outputFile": str(output_file),
                "artifacts": {key: {"artifacts": [a]} for key, a in artifacts.items()},
            },
        }
        self._execute(name, task, executor_input)
        written = json.loads(output_file.read_text()) if output_file.exists() else {}
        for key, artifact in artifacts.items():
            found = written.get("artifacts", {}).get(key, {}).get("artifacts", [{}])[0]
            uri = found.get("uri", artifact["uri"])
            assert uri.startswith(run), f"{uri} does not have expected bucket prefix"
            metadata = found.get("metadata", {})
            artifacts[key] = {"uri": uri, "metadata": metadata, "name": f"{name}/{key}"}
        return artifacts

    def _execute(self, name, task, executor_input) -> None:
        """Runs the command of a task's container, its artifacts brought and fetched."""
        pod = self._folder / "pod"
        shutil.rmtree(pod, ignore_errors=True)
        for uri in _uris(executor_input["inputs"]):
            if paths.is_remote(uri) and paths.exists(uri):
                paths.copy_tree(uri, _in_pod(pod, uri))
        outputs = [_in_pod(pod, uri) for uri in _uris(executor_input["outputs"])]
        for output in outputs:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
        container = self._document.container_of(task)
        text = json.dumps(executor_input)
        command = [
            part.replace("{{$}}", text)
            for part in [*container["command"], *container.get("args", [])]
        ]
        assert command[0] == "python"
        done = subprocess.run(
            [sys.executable, *command[1:]],
            cwd=ROOT,
            env=os.environ | {"CTR_LAUNCHER_BASE": str(pod)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{name}: {done.stderr[-3000:]}"
        for uri, output in zip(_uris(executor_input["outputs"]), outputs, strict=True):
            if paths.is_remote(uri) and os.path.exists(output):
                paths.copy_tree(output, uri)


def _uris(side: dict[str, Any]) -> list[str]:
    """URIs of all artifacts on one side of a task."""
    return [
        artifact["uri"]
        for group in side["artifacts"].values()
        for artifact in group["artifacts"]
    ]


def _in_pod(pod: Path, uri: str) -> str:
    """Where a container sees an artifact."""
    return uri.replace("s3:/", f"{pod}/s3") if paths.is_remote(uri) else uri


def _needs(task: dict[str, Any]) -> set[str]:
    """The tasks before one."""
    return set(task.get("dependentTasks", []))


def _handed_over(done: dict[str, Any], source: dict[str, str]) -> dict[str, Any]:
    """An output as the driver hands it on: no type, more metadata."""
    artifact = done[source["producerTask"]][source["outputArtifactKey"]]
    added = {"display_name": artifact["name"], "store_session_info": "{}"}
    return artifact | {"metadata": artifact["metadata"] | added}

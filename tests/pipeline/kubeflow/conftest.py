"""A minimal spec that breaks no rule."""

from copy import deepcopy
from typing import Any

import pytest

from pipeline.kubeflow.document import Document


def _model() -> dict[str, Any]:
    # Made anew each time: YAML writes a shared object as an alias.
    return {"artifactType": {"instanceSchema": "title: tfx.Model\ntype: object\n"}}


def _container(*args: str) -> dict[str, Any]:
    return {
        "container": {
            "image": "registry.local/ctr:1",
            "command": ["python", "-m", "pipeline.kubeflow.entrypoint"],
            "args": ["--json_serialized_invocation_args", "{{$}}", *args],
        }
    }


_SPEC = {
    "pipelineInfo": {"name": "minimal"},
    "schemaVersion": "2.1.0",
    "sdkVersion": "tfx-1.16.0",
    "deploymentSpec": {
        "executors": {
            "Trainer_executor": _container(),
            "Pusher_executor": _container(),
        }
    },
    "components": {
        "Trainer": {
            "executorLabel": "Trainer_executor",
            "inputDefinitions": {"parameters": {"args": {"parameterType": "STRING"}}},
            "outputDefinitions": {"artifacts": {"model": _model()}},
        },
        "Pusher": {
            "executorLabel": "Pusher_executor",
            "inputDefinitions": {"artifacts": {"model": _model()}},
        },
    },
    "root": {
        "dag": {
            "tasks": {
                "Trainer": {
                    "taskInfo": {"name": "Trainer"},
                    "componentRef": {"name": "Trainer"},
                    "inputs": {
                        "parameters": {"args": {"runtimeValue": {"constant": "{}"}}}
                    },
                },
                "Pusher": {
                    "taskInfo": {"name": "Pusher"},
                    "componentRef": {"name": "Pusher"},
                    "dependentTasks": ["Trainer"],
                    "inputs": {
                        "artifacts": {
                            "model": {
                                "taskOutputArtifact": {
                                    "producerTask": "Trainer",
                                    "outputArtifactKey": "model",
                                }
                            }
                        }
                    },
                },
            }
        }
    },
}


@pytest.fixture
def document() -> Document:
    """Trainer and Pusher, to be changed at will."""
    return Document(deepcopy(_SPEC))


@pytest.fixture
def task(document):
    """The Pusher's task."""
    return document.pipeline["root"]["dag"]["tasks"]["Pusher"]


@pytest.fixture
def container(document):
    """The Pusher's container."""
    return document.executors["Pusher_executor"]["container"]

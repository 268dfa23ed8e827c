"""What containers do before and after TFX's own entry point."""

import json

import pytest
from pyarrow import fs

pytestmark = pytest.mark.engine

DECLARED = {"instanceSchema": "title: tfx.Model\ntype: object\n"}
SPEC = {"artifacts": {"model": {"artifactType": DECLARED}}}


def executor_input(*models, uri="s3://bucket/run/Evaluator/blessing"):
    return {
        "inputs": {
            "parameterValues": {"a": "s3://bucket/as-it-is"},
            "artifacts": {"model": {"artifacts": list(models)}},
        },
        "outputs": {
            "outputFile": "/tmp/out.json",
            "artifacts": {"blessing": {"artifacts": [{"uri": uri}]}},
        },
    }


def only_model(prepared):
    return prepared["inputs"]["artifacts"]["model"]["artifacts"][0]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (None, DECLARED),
        ({"schemaTitle": "system.Artifact"}, DECLARED),
        ({"schemaTitle": "tfx.Examples"}, {"schemaTitle": "tfx.Examples"}),
        ({"instanceSchema": "title: tfx.X"}, {"instanceSchema": "title: tfx.X"}),
    ],
)
def test_a_missing_type_comes_from_the_declaration(kind, expected):
    from pipeline.kubeflow.entrypoint import prepared

    model = {"uri": "gs://b/m"} | ({"type": kind} if kind else {})
    assert only_model(prepared(executor_input(model), SPEC))["type"] == expected


def test_metadata_that_kubeflow_adds_does_not_reach_tfx():
    from pipeline.kubeflow.entrypoint import prepared

    metadata = {"display_name": "x", "store_session_info": "{}", "span": 3.0}
    model = {"uri": "gs://b/m", "metadata": metadata}
    found = only_model(prepared(executor_input(model), SPEC))
    assert found["metadata"] == {"span": 3.0}


def test_an_input_that_is_none_yet_is_left_out():
    from pipeline.kubeflow.entrypoint import prepared

    model = {"uri": "s3://b/m", "metadata": {"none_yet": "true"}}
    assert prepared(executor_input(model), SPEC)["inputs"]["artifacts"] == {}


def test_artifacts_are_read_and_written_where_the_launcher_keeps_them():
    from pipeline.kubeflow.entrypoint import prepared
    from pipeline.kubeflow.storage import to_remote

    result = prepared(executor_input({"uri": "minio://mlpipeline/run/m"}), SPEC)
    assert only_model(result)["uri"] == "/minio/mlpipeline/run/m"
    output = result["outputs"]["artifacts"]["blessing"]["artifacts"][0]
    assert output["uri"] == "/s3/bucket/run/Evaluator/blessing"
    assert to_remote(output)["uri"] == "s3://bucket/run/Evaluator/blessing"
    assert result["inputs"]["parameterValues"] == {"a": "s3://bucket/as-it-is"}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A folder in the place of every object store, and folders of the pod."""
    from pipeline.kubeflow import storage

    folder = tmp_path / "store"
    (folder / "bucket").mkdir(parents=True)
    local = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
    monkeypatch.setattr(storage, "_store", lambda uri: (local, uri.partition("://")[2]))
    monkeypatch.setattr(
        storage,
        "MOUNTS",
        {"s3://": f"{tmp_path}/s3/", "minio://": f"{tmp_path}/minio/"},
    )
    return folder


def test_the_log_is_fetched_and_pushed_versions_go_to_the_store(store, tmp_path):
    from pipeline.kubeflow import entrypoint, storage

    (store / "bucket" / "log").mkdir()
    (store / "bucket" / "log" / "a.csv").write_text("click\n1\n")
    destination = {"filesystem": {"base_directory": "s3://bucket/serving"}}
    values = {
        "input_base": "s3://bucket/log",
        "push_destination": json.dumps(destination),
    }
    made = {"inputs": {"parameterValues": values}}
    assert entrypoint._localize_parameters(made) == "s3://bucket/serving"
    assert (tmp_path / "s3" / "bucket" / "log" / "a.csv").read_text() == "click\n1\n"
    values = made["inputs"]["parameterValues"]
    assert values["input_base"] == f"{tmp_path}/s3/bucket/log"
    pushed = json.loads(values["push_destination"])["filesystem"]["base_directory"]
    (tmp_path / "s3" / "bucket" / "serving" / "7").mkdir(parents=True)
    (tmp_path / "s3" / "bucket" / "serving" / "7" / "saved_model.pb").write_text("m")
    storage.put(pushed, "s3://bucket/serving")
    assert (store / "bucket" / "serving" / "7" / "saved_model.pb").read_text() == "m"


@pytest.mark.parametrize("scheme", ["", "s3"])
def test_the_pointer_is_none_yet_until_it_is_written(store, tmp_path, scheme):
    from pipeline.kubeflow.blessed_model import read_pointer, write_pointer

    pointer = "s3://bucket/latest.json" if scheme else f"{tmp_path}/p/latest.json"
    assert read_pointer(pointer) is None
    write_pointer(pointer, "s3://bucket/run/model")
    assert read_pointer(pointer) == "s3://bucket/run/model"
    write_pointer(pointer, "s3://bucket/next/model")
    assert read_pointer(pointer) == "s3://bucket/next/model"


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"blessed": 1.0, "current_model": "s3://b/m"}, "s3://b/m"),
        ({"blessed": 0.0, "current_model": "s3://b/m"}, None),
        ({}, None),
    ],
)
def test_only_a_blessing_names_a_model(metadata, expected):
    from pipeline.kubeflow.blessed_model import blessed_model

    output = {"artifacts": {"blessing": {"artifacts": [{"metadata": metadata}]}}}
    assert blessed_model(output) == expected


def resolve(pointer, tmp_path):
    """Runs the container of the resolver; returns its output artifact."""
    from pipeline.kubeflow.blessed_model import main

    made = {
        "outputs": {
            "outputFile": f"{tmp_path}/out/output.json",
            "artifacts": {"model": {"artifacts": [{"uri": "s3://bucket/run/model"}]}},
        }
    }
    main(["--pointer", pointer, "--executor_input", json.dumps(made)])
    written = json.loads((tmp_path / "out" / "output.json").read_text())
    return written["artifacts"]["model"]["artifacts"][0]


def test_the_latest_blessed_model_is_copied_into_the_run(store, tmp_path):
    from pipeline.kubeflow.blessed_model import write_pointer

    pointer = "s3://bucket/latest.json"
    assert resolve(pointer, tmp_path)["metadata"] == {"none_yet": "true"}
    (store / "bucket" / "old").mkdir()
    (store / "bucket" / "old" / "saved_model.pb").write_text("model")
    write_pointer(pointer, "s3://bucket/old")
    assert resolve(pointer, tmp_path) == {"uri": "s3://bucket/run/model"}
    copied = tmp_path / "s3" / "bucket" / "run" / "model" / "saved_model.pb"
    assert copied.read_text() == "model"


def test_what_the_driver_finds_reaches_the_output_artifact(tmp_path, monkeypatch):
    from pipeline.kubeflow import entrypoint

    class Driver:
        """Writes what TFX's driver of ExampleGen writes."""

        @staticmethod
        def main(arguments):
            made = json.loads(arguments.json_serialized_invocation_args)
            artifact = {"metadata": {"span": 5.0}}
            with open(made["outputs"]["outputFile"], "w") as file:
                json.dump({"artifacts": {"examples": {"artifacts": [artifact]}}}, file)

    monkeypatch.setattr(entrypoint.importlib, "import_module", lambda name: Driver)
    made = {
        "outputs": {
            "outputFile": f"{tmp_path}/out.json",
            "artifacts": {"examples": {"artifacts": [{"uri": "u"}]}},
        }
    }
    entrypoint._run_driver("driver", made, "{}")
    (artifact,) = made["outputs"]["artifacts"]["examples"]["artifacts"]
    assert artifact == {"uri": "u", "metadata": {"span": 5.0}}

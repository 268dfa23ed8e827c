"""What containers do before and after TFX's own entry point."""

import json
import uuid

import pytest

from tests.object_store import BUCKET, s3_server

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
def store():
    with s3_server():
        yield f"s3://{BUCKET}/{uuid.uuid4().hex}"


@pytest.mark.parametrize("scheme", ["", "s3"])
def test_the_pointer_lists_the_latest_models_once_the_newest_last(
    store, tmp_path, scheme
):
    from pipeline.kubeflow.blessed_model import read_pointer, write_pointer

    pointer = f"{store}/latest.json" if scheme else f"{tmp_path}/p/latest.json"
    assert read_pointer(pointer) == []
    for name in ("a", "b", "a"):
        write_pointer(pointer, f"s3://bucket/{name}/model")
    assert read_pointer(pointer) == ["s3://bucket/b/model", "s3://bucket/a/model"]
    for number in range(20):
        write_pointer(pointer, f"s3://bucket/{number}/model")
    assert read_pointer(pointer) == [f"s3://bucket/{at}/model" for at in range(20)]


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
    places = ["--pointer", pointer, "--serving", f"{pointer}.serving"]
    main([*places, "--executor_input", json.dumps(made)])
    written = json.loads((tmp_path / "out" / "output.json").read_text())
    return written["artifacts"]["model"]["artifacts"][0]


def test_the_latest_blessed_model_is_copied_into_the_run(store, tmp_path, monkeypatch):
    from data import paths
    from pipeline.kubeflow import storage
    from pipeline.kubeflow.blessed_model import write_pointer

    monkeypatch.setitem(storage.MOUNTS, "s3://", f"{tmp_path}/s3/")
    pointer = f"{store}/latest.json"
    assert resolve(pointer, tmp_path)["metadata"] == {"none_yet": "true"}
    with paths.open_write(f"{store}/old/saved_model.pb") as file:
        file.write(b"model")
    write_pointer(pointer, f"{store}/old")
    assert resolve(pointer, tmp_path) == {"uri": "s3://bucket/run/model"}
    copied = tmp_path / "s3" / "bucket" / "run" / "model" / "saved_model.pb"
    assert copied.read_text() == "model"


@pytest.mark.parametrize("content", ["{", "[]", '{"model": "x"}', '{"models": 1}'])
def test_a_damaged_pointer_is_named_and_mended_by_the_next_blessing(tmp_path, content):
    from data.errors import DataError
    from pipeline.kubeflow.blessed_model import read_pointer, write_pointer

    pointer = tmp_path / "latest.json"
    pointer.write_text(content)
    with pytest.raises(DataError, match="not a list of blessed models; remove it"):
        read_pointer(str(pointer))
    write_pointer(str(pointer), "s3://bucket/run/model")
    assert read_pointer(str(pointer)) == ["s3://bucket/run/model"]


def test_a_withdrawn_model_is_no_baseline_until_it_is_served_again(store):
    from components.withdrawals import tree_digest, withdraw
    from data import paths
    from pipeline.kubeflow.blessed_model import baseline, write_pointer

    pointer, serving = f"{store}/latest.json", f"{store}/serving"
    digests = {}
    for name in ("old", "new"):
        model = f"{store}/{name}/Format-Serving"
        with paths.open_write(f"{model}/saved_model.pb") as file:
            file.write(name.encode())
        write_pointer(pointer, f"{store}/{name}")
        digests[name] = tree_digest(model)
    assert baseline(pointer, serving) == f"{store}/new"
    withdraw(serving, digests["new"], in_favour_of=digests["old"])
    assert baseline(pointer, serving) == f"{store}/old"
    withdraw(serving, digests["old"], in_favour_of=digests["new"])
    assert baseline(pointer, serving) == f"{store}/new"


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


def trainer_values(**given):
    train = json.dumps({"epochs": 3, "seed": 1})
    return {"custom_config": json.dumps({"train": train, "model": "{}"}), **given}


def test_a_run_can_change_the_epochs():
    from pipeline.kubeflow.run_parameters import apply

    # Kubeflow hands every number over as a float.
    values = trainer_values(epochs=5.0)
    apply(values)
    custom = json.loads(values["custom_config"])
    assert json.loads(custom["train"]) == {"epochs": 5, "seed": 1}
    assert set(custom) == {"train", "model"}
    assert "epochs" not in values


@pytest.mark.parametrize(("span", "expected"), [("latest", None), ("12", 12)])
def test_a_run_can_name_the_span(span, expected):
    from google.protobuf import json_format
    from tfx.proto import range_config_pb2

    from pipeline.kubeflow.run_parameters import apply

    values = {"input_base": "/logs", "span": span}
    apply(values)
    if expected is None:
        assert values == {"input_base": "/logs"}
        return
    wanted = json_format.Parse(values["range_config"], range_config_pb2.RangeConfig())
    assert wanted.static_range.start_span_number == expected
    assert wanted.static_range.end_span_number == expected


@pytest.mark.parametrize("given", [{"epochs": 0}, {"epochs": 2.5}, {"span": "monday"}])
def test_a_value_out_of_range_is_named(given):
    from data.errors import RunError
    from pipeline.kubeflow.run_parameters import apply

    ((name, value),) = given.items()
    with pytest.raises(RunError, match=f"run parameter {name}.*got {value!r}"):
        apply(trainer_values(**given))

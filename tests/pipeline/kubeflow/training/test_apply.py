"""What a compile writes for the step, and which configurations it refuses."""

import json

import pytest

from data.errors import ConfigError
from pipeline.config import load
from pipeline.kubeflow.config import KubeflowConfig
from pipeline.kubeflow.training.apply import apply_training
from pipeline.kubeflow.training.spec import KEY, TrainingSpec
from tests.pipeline.kubeflow.training.conftest import IMAGE

CLUSTER = {
    "image": "registry.local/ctr",
    "digest": "sha256:" + "a" * 64,
    "pipeline_root": "s3://bucket/runs",
    "secrets": [{"name": "store", "env": {"AWS_SECRET_ACCESS_KEY": "key"}}],
    "queue": "ctr",
    "defaults": {"memory": "4Gi"},
    "training": {"workers": 2, "cpu": 8, "gpu": 1},
}


def configured(strategy="multi_worker_mirrored", **cluster):
    """The demo on a cluster."""
    config = load(preset="demo")
    train = config.train.model_copy(update={"strategy": strategy})
    return config.model_copy(
        update={"train": train, "kubeflow": KubeflowConfig(**(CLUSTER | cluster))}
    )


@pytest.fixture
def parameters(document):
    """The Trainer's parameters, as TFX compiles them."""
    made = {
        "run_fn": {"runtimeValue": {"constant": "components.trainer.run_fn"}},
        "custom_config": {"runtimeValue": {"constant": '{"train": "{}"}'}},
    }
    document.pipeline["root"]["dag"]["tasks"]["Trainer"]["inputs"]["parameters"] = made
    return made


def constants(parameters):
    return {
        name: one["runtimeValue"]["constant"]
        for name, one in parameters.items()
        if "runtimeValue" in one
    }


def test_the_trainer_gets_the_run_fn_and_the_settings_of_the_job(document, parameters):
    apply_training(document, configured(), IMAGE)
    found = constants(parameters)
    assert found["run_fn"] == "pipeline.kubeflow.training.step.run_fn"
    custom = json.loads(found["custom_config"])
    assert sorted(custom) == [KEY, "train"]
    spec = TrainingSpec.model_validate_json(custom[KEY])
    assert (spec.pipeline, spec.image, spec.queue) == ("demo", IMAGE, "ctr")
    assert spec.training.workers == 2
    # Of the workers, completed by that of all pods.
    assert (spec.training.cpu, spec.training.memory) == (8, "4Gi")
    assert spec.secrets[0].env == {"AWS_SECRET_ACCESS_KEY": "key"}


def test_nothing_changes_without_the_key(document, parameters):
    before = constants(parameters)
    apply_training(document, configured("default", training=None), IMAGE)
    apply_training(document, load(preset="demo"), IMAGE)
    assert constants(parameters) == before


@pytest.mark.parametrize("strategy", ["default", "mirrored", "parameter_server"])
def test_a_strategy_that_is_none_of_workers_in_step_is_refused(
    document, parameters, strategy
):
    with pytest.raises(ConfigError) as caught:
        apply_training(document, configured(strategy), IMAGE)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("kubeflow.training: ")
    assert f"'{strategy}'; set it to multi_worker_mirrored" in line


@pytest.mark.parametrize(("rows", "fits"), [(31, False), (32, True), (33, True)])
def test_each_replica_gets_rows_of_a_batch(document, parameters, rows, fits):
    # 16 workers of 2 accelerators each are 32 replicas.
    config = configured(training={"workers": 16, "gpu": 2})
    train = config.train.model_copy(update={"batch_size": rows})
    config = config.model_copy(update={"train": train})
    if fits:
        apply_training(document, config, IMAGE)
        return
    with pytest.raises(ConfigError, match=r"train\.batch_size: .* least 32, .* got 31"):
        apply_training(document, config, IMAGE)


@pytest.mark.parametrize(
    ("training", "place"),
    [
        ({"workers": 1}, "workers"),
        ({}, "workers"),
        ({"workers": 2, "kind": "PyTorchJob"}, "kind"),
        ({"workers": 2, "runtime": "My Runtime"}, "runtime"),
        ({"workers": 2, "namespace": "n" * 64}, "namespace"),
    ],
)
def test_a_faulty_setting_is_named(training, place):
    with pytest.raises(ValueError, match=f"training.{place}"):
        KubeflowConfig(training=training)


@pytest.mark.engine
@pytest.mark.parametrize("kind", ["TrainJob", "TFJob"])
def test_a_compiled_pipeline_breaks_no_rule_and_holds_no_secret(
    kind, monkeypatch, tmp_path
):
    from click.testing import CliRunner

    from pipeline.cli.main import cli
    from pipeline.kubeflow.compile import compile_kubeflow
    from pipeline.kubeflow.request import request_of

    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-the-spec")
    config = configured(training=CLUSTER["training"] | {"kind": kind})
    document = compile_kubeflow(config, request_of(config, "kubeflow"))
    trainer = document.pipeline["root"]["dag"]["tasks"]["Trainer"]
    found = constants(trainer["inputs"]["parameters"])
    assert found["run_fn"] == "pipeline.kubeflow.training.step.run_fn"
    custom = json.loads(found["custom_config"])
    # The run's own settings stay as they were.
    assert json.loads(custom["train"])["strategy"] == "multi_worker_mirrored"
    spec = TrainingSpec.model_validate_json(custom[KEY])
    assert spec.image == f"registry.local/ctr@sha256:{'a' * 64}"
    path = tmp_path / "spec.yaml"
    path.write_text(document.to_yaml())
    assert "not-for-the-spec" not in path.read_text()
    assert CliRunner().invoke(cli, ["compile", "--check", str(path)]).exit_code == 0


@pytest.mark.engine
def test_tfx_finds_the_run_fn():
    from tfx.components.util import udf_utils

    from pipeline.kubeflow.training.apply import RUN_FN

    found = udf_utils.get_fn({"run_fn": RUN_FN}, "run_fn")
    assert f"{found.__module__}.{found.__qualname__}" == RUN_FN

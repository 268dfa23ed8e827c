"""The compiled pipeline, as data: golden, deterministic, loadable, checked.

``UPDATE_GOLDENS=1 pytest -m engine tests/pipeline/kubeflow/test_compile.py`` writes the
golden files anew.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import json_format

from data.errors import ConfigError
from pipeline.config import load
from pipeline.kubeflow.config import KubeflowConfig
from pipeline.kubeflow.request import request_of

pytestmark = pytest.mark.engine

GOLDENS = Path(__file__).parent / "golden"
IMAGE = "registry.local/ctr:1"
# Settings as JSON: tested where they are read, and they change with every new default.
SETTINGS = ("custom_config", "dataset", "eval_config", "gates", "settings")

CLUSTER = {
    "image": "registry.local/ctr",
    "digest": "sha256:" + "a" * 64,
    "pipeline_root": "s3://bucket/runs/",
    "image_pull_secrets": ["registry"],
    "secrets": [{"name": "store", "env": {"AWS_ACCESS_KEY_ID": "id"}}],
    "queue": "ctr",
    "caching": True,
    "retries": {"count": 3, "backoff_seconds": 30},
    "defaults": {"cpu": 1, "memory": "4Gi", "timeout_seconds": 3600},
    "components": [
        {
            "component": "Trainer",
            "cpu": 4,
            "gpu": 1,
            "node_selector": {"pool": "gpu"},
            "tolerations": [{"key": "gpu", "effect": "NoSchedule"}],
        }
    ],
}


def compiled(preset="demo", cluster=None, **options):
    from pipeline.kubeflow.compile import compile_kubeflow

    config = load(preset=preset)
    if cluster is not None:
        config = config.model_copy(update={"kubeflow": KubeflowConfig(**cluster)})
    else:
        options = {"image": IMAGE} | options
    return compile_kubeflow(config, request_of(config, "kubeflow", **options))


def strict(document):
    """Both documents as protos; a field that they do not have is an error."""
    from kfp.pipeline_spec import pipeline_spec_pb2 as pb

    json_format.ParseDict(
        document.pipeline["deploymentSpec"], pb.PipelineDeploymentConfig()
    )
    return (
        json_format.ParseDict(document.pipeline, pb.PipelineSpec()),
        json_format.ParseDict(document.platform, pb.PlatformSpec()),
    )


def without_settings(document):
    """The document without what is no structure."""
    document.pipeline["sdkVersion"] = ""
    for _, task in document.tasks():
        for name, value in task.get("inputs", {}).get("parameters", {}).items():
            if name in SETTINGS:
                value["runtimeValue"] = {"constant": ""}
    return document


@pytest.mark.parametrize("preset", ["demo", "movielens"])
def test_presets_on_a_cluster_are_the_goldens(preset):
    from pipeline.kubeflow.document import read_document

    golden = GOLDENS / f"{preset}.yaml"
    document = without_settings(compiled(preset, cluster=CLUSTER))
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_text(document.to_yaml(), "utf-8")
    assert strict(document) == strict(read_document(golden))


@pytest.mark.parametrize("preset", ["demo", "movielens"])
def test_presets_compile_to_what_kfp_loads(preset, tmp_path):
    from kfp import components

    document = compiled(preset)
    strict(document)
    path = tmp_path / "pipeline.yaml"
    path.write_text(document.to_yaml())
    loaded = components.load_component_from_file(str(path))
    assert loaded.name == preset
    base = f"minio://mlpipeline/v2/artifacts/{preset}/input"
    assert loaded.component_spec.inputs["input_base"].default == base


def test_two_processes_write_the_same_bytes(tmp_path):
    texts = set()
    for seed in ("1", "2"):
        output = tmp_path / f"{seed}.yaml"
        command = "-m pipeline.cli.main compile --preset demo --target kubeflow --json"
        subprocess.run(
            [sys.executable, *command.split(), "--image", IMAGE, "--output", output],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        texts.add(output.read_bytes())
    assert len(texts) == 1
    assert texts.pop().decode() == compiled().to_yaml()


def test_the_configuration_reaches_the_components_unchanged():
    tasks = compiled().pipeline["root"]["dag"]["tasks"]
    constant = tasks["Trainer"]["inputs"]["parameters"]["custom_config"]
    settings = json.loads(constant["runtimeValue"]["constant"])
    config = load(preset="demo")
    assert json.loads(settings["train"]) == config.train.model_dump(mode="json")


def test_vertex_gets_what_the_runner_gives(tmp_path):
    from tfx.orchestration.kubeflow.v2 import kubeflow_v2_dag_runner as tfx_runner

    from pipeline.kubeflow.compile import POD_BEAM_ARGS, compile_vertex, job_text
    from pipeline.pipeline import Locations, create_pipeline

    config = load(preset="demo")
    request = request_of(
        config, "vertex", image=IMAGE, pipeline_root="gs://b/r", input_base="gs://b/log"
    )
    runner = tfx_runner.KubeflowV2DagRunner(
        config=tfx_runner.KubeflowV2DagRunnerConfig(default_image=IMAGE),
        output_dir=str(tmp_path),
        output_filename="job.json",
    )
    locations = Locations(
        input_base="gs://b/log",
        pipeline_root="gs://b/r",
        serving="gs://b/r/demo/serving",
        checkpoints="gs://b/r/checkpoints",
    )
    runner.run(create_pipeline(config, locations, list(POD_BEAM_ARGS)))
    written = json.loads((tmp_path / "job.json").read_text())
    assert json.loads(job_text(compile_vertex(config, request))) == written
    assert written["runtimeConfig"]["gcsOutputDirectory"] == "gs://b/r"


def test_optional_evaluators_get_names_that_the_cluster_takes():
    from pipeline.kubeflow.compile import compile_kubeflow

    config = load(preset="demo")
    evaluate = config.evaluate.model_copy(update={"tfma_metrics": ("AUC",)})
    config = config.model_copy(update={"evaluate": evaluate})
    document = compile_kubeflow(config, request_of(config, "kubeflow", image=IMAGE))
    assert "Evaluator-rows" in document.pipeline["root"]["dag"]["tasks"]


def test_defaults_of_runtime_parameters_are_found_in_the_pipeline():
    from tfx.components.schema_gen.import_schema_gen.component import ImportSchemaGen
    from tfx.orchestration.data_types import RuntimeParameter
    from tfx.orchestration.pipeline import Pipeline

    from pipeline.kubeflow.compile import runtime_defaults

    node = ImportSchemaGen(
        schema_file=RuntimeParameter(name="schema", ptype=str, default="a.pbtxt")
    )
    pipeline = Pipeline(pipeline_name="p", pipeline_root="gs://b", components=[node])
    assert runtime_defaults(pipeline) == {"schema": "a.pbtxt"}


@pytest.mark.parametrize(
    ("cluster", "text"),
    [
        (
            {"components": [{"component": "Trainr"}]},
            r"kubeflow.components\[0\].component: no component 'Trainr'.*'Trainer'\?",
        ),
        (
            {"parameters": {"data": "ClickLogExampleGen.input_bse"}},
            "kubeflow.parameters.data: .* Did you mean 'input_base'?",
        ),
        (
            {"parameters": {"data": "ExampleGen.input_base"}},
            "kubeflow.parameters.data: no component 'ExampleGen'",
        ),
        ({"caching": True}, "caching: root.dag.tasks.AtomicPusher"),
    ],
)
def test_settings_that_do_not_fit_the_pipeline_are_refused(cluster, text):
    with pytest.raises(ConfigError, match=text):
        compiled(cluster={"image": IMAGE} | cluster)

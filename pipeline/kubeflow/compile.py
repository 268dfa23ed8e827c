"""Compiles the pipeline for Vertex AI and for open-source Kubeflow Pipelines.

Both come from the one ``create_pipeline`` through TFX's ``KubeflowV2DagRunner``. Vertex
AI takes the result as it is; for Kubeflow each rule repairs what it would refuse.
"""

import json
from typing import Any

from tfx.orchestration.data_types import RuntimeParameter
from tfx.orchestration.kubeflow.v2.kubeflow_v2_dag_runner import (
    KubeflowV2DagRunner,
    KubeflowV2DagRunnerConfig,
)
from tfx.orchestration.pipeline import Pipeline

from components.example_gen.run import LOCAL_RUNNER
from data.errors import ConfigError
from pipeline.config import PipelineConfig
from pipeline.kubeflow.check import check
from pipeline.kubeflow.config import KubeflowConfig
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.parameters import expose
from pipeline.kubeflow.request import Request
from pipeline.kubeflow.rules import (
    accelerator,
    caching,
    condition,
    lifecycle,
    parameter_defaults,
    resolver,
    retries,
    task_names,
    typed_inputs,
)
from pipeline.kubeflow.run_parameters import declare, run_parameters
from pipeline.kubeflow.settings import apply_settings
from pipeline.kubeflow.storage import needs_arrow
from pipeline.kubeflow.training.apply import apply_training
from pipeline.pipeline import Locations, create_pipeline

# Beam works inside the pod, by the engine that local runs name, too; naming a
# container keeps TFX from building a source package of itself.
POD_BEAM_ARGS = (LOCAL_RUNNER, "--sdk_container_image=none")


def compile_vertex(config: PipelineConfig, request: Request) -> dict[str, Any]:
    """Compiles for Vertex AI.

    Args:
        config: the configuration.
        request: image and places.

    Returns:
        The PipelineJob as TFX's runner gives it.
    """
    return _job(_pipeline(config, request), request.image, schema_2_1=False)


def compile_kubeflow(config: PipelineConfig, request: Request) -> Document:
    """Compiles for open-source Kubeflow Pipelines.

    Args:
        config: the configuration.
        request: image and places.

    Returns:
        The PipelineSpec and its platform document.

    Raises:
        ConfigError: the configuration does not fit the pipeline or the cluster.
    """
    cluster = config.kubeflow or KubeflowConfig()
    pipeline = _pipeline(config, request)
    job = _job(pipeline, request.image, schema_2_1=True)
    document = Document(job["pipelineSpec"])
    document.pipeline["defaultPipelineRoot"] = request.pipeline_root
    lifecycle.repair(document)
    typed_inputs.repair(document)
    resolver.repair(document, request)
    accelerator.repair(document)
    apply_settings(document, cluster)
    apply_training(document, config, request.image)
    condition.repair(document)
    parameter_defaults.repair(document, runtime_defaults(pipeline))
    declare(document, run_parameters(config.train.epochs, request.input_base))
    expose(document, cluster.parameters)
    retries.repair(document, cluster.retries)
    caching.repair(document, cluster.caching)
    # Last: the rules before it know tasks by the ids that TFX gives them.
    task_names.repair(document)
    faults = check(document)
    if faults:
        raise ConfigError(*(fault.line() for fault in faults))
    return document


def runtime_defaults(pipeline: Pipeline) -> dict[str, Any]:
    """Defaults of the RuntimeParameters that components were given.

    Args:
        pipeline: the pipeline, before it is compiled.

    Returns:
        Value by name; parameters without a default are left out.
    """
    return {
        value.name: value.default
        for node in pipeline.components
        for value in node.exec_properties.values()
        if isinstance(value, RuntimeParameter) and value.default is not None
    }


def job_text(job: dict[str, Any]) -> str:
    """A PipelineJob as text, the same for the same content."""
    return json.dumps(job, indent=1, sort_keys=True) + "\n"


def _pipeline(config: PipelineConfig, request: Request) -> Pipeline:
    """The pipeline that local runs run, too, at the places of the cluster."""
    cluster = config.kubeflow or KubeflowConfig()
    if config.serving_check.infra_validator is not None:
        raise ConfigError(
            "serving_check.infra_validator: TFX has none for Kubeflow Pipelines 2; "
            "leave it out, the serving check goes without"
        )
    # TensorFlow writes checkpoints itself, so only where it has a file system.
    root = request.pipeline_root
    locations = Locations(
        input_base=request.input_base,
        pipeline_root=root,
        serving=request.serving,
        checkpoints=None if needs_arrow(root) else f"{root}/checkpoints",
    )
    beam_args = cluster.beam_args if cluster.beam_args is not None else POD_BEAM_ARGS
    return create_pipeline(config, locations, list(beam_args))


def _job(pipeline: Pipeline, image: str, *, schema_2_1: bool) -> dict[str, Any]:
    """What TFX's runner makes of a pipeline."""
    runner = KubeflowV2DagRunner(
        config=KubeflowV2DagRunnerConfig(
            default_image=image, use_pipeline_spec_2_1=schema_2_1
        )
    )
    job: dict[str, Any] = runner.run(pipeline, write_out=False)
    return job

"""Makes the compiled Trainer start a job of the cluster instead of training itself."""

import json

from components.batch_scaling import part_of
from data.errors import ConfigError
from pipeline.config import PipelineConfig
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.training.spec import KEY, TrainingSpec

RUN_FN = "pipeline.kubeflow.training.step.run_fn"
_STRATEGY = "multi_worker_mirrored"


def apply_training(document: Document, config: PipelineConfig, image: str) -> None:
    """Exchanges the Trainer's ``run_fn`` and hands it the settings of the job.

    Args:
        document: the compiled pipeline, its tasks named as TFX does.
        config: the configuration; without ``kubeflow.training`` nothing changes.
        image: image of the workers, the one of every component.

    Raises:
        ConfigError: the strategy is none of workers in step, or the batch is smaller
            than their number of replicas.
    """
    cluster = config.kubeflow
    if cluster is None or cluster.training is None:
        return
    strategy = config.train.strategy
    if strategy != _STRATEGY:
        raise ConfigError(
            f"kubeflow.training: trains by workers in step, got train.strategy "
            f"{strategy!r}; set it to {_STRATEGY}, or leave kubeflow.training out"
        )
    spec = TrainingSpec.of(config.name, image, cluster, cluster.training)
    _check_batch(config.train.batch_size, spec)
    task = document.pipeline["root"]["dag"]["tasks"]["Trainer"]
    parameters = task["inputs"]["parameters"]
    parameters["run_fn"]["runtimeValue"]["constant"] = RUN_FN
    value = parameters["custom_config"]["runtimeValue"]
    custom = json.loads(value["constant"]) | {
        KEY: spec.model_dump_json(exclude_none=True)
    }
    value["constant"] = json.dumps(custom, sort_keys=True)


def _check_batch(rows: int, spec: TrainingSpec) -> None:
    """Refuses a batch that leaves replicas without rows; parts need not be equal."""
    replicas = spec.training.workers * (spec.training.gpu or 1)
    _, least = part_of(rows, 0, replicas)
    if least == 0:
        raise ConfigError(
            f"train.batch_size: must be at least {replicas}, a row for each replica of "
            f"kubeflow.training, got {rows}; raise it, or lower workers"
        )

"""A training as a file: what every process of a cluster reads and runs."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydantic

from components.cluster.discovery import find_cluster
from components.cluster.tasks import Cluster
from components.config import TrainConfig
from components.strategy_rules import check_strategy
from data.errors import ConfigError
from data.settings import Settings, parse

# Below the chief's folder: what the other workers write and nobody reads.
_WORKERS = "_workers"


class TrainingJob(Settings):
    """What the Trainer's ``FnArgs`` hold, under the same names."""

    train_files: tuple[str, ...] = pydantic.Field(
        min_length=1, description="Patterns of the files to train on."
    )
    eval_files: tuple[str, ...] = pydantic.Field(
        (), description="Patterns of the files to validate on."
    )
    transform_output: str = pydantic.Field(description="Folder of the transform graph.")
    serving_model_dir: str = pydantic.Field(description="Receives the model.")
    model_run_dir: str = pydantic.Field(description="Receives logs and counts.")
    custom_config: dict[str, Any] = pydantic.Field(
        description="dataset, model and train as JSON text; see components.trainer."
    )

    @classmethod
    def from_fn_args(cls, fn_args: Any) -> "TrainingJob":
        """Takes over what a Trainer was given.

        Args:
            fn_args: TFX's ``FnArgs``.

        Returns:
            The job.
        """
        values = {name: getattr(fn_args, name) for name in cls.model_fields}
        return cls.model_validate(values)

    @classmethod
    def load(cls, path: Path) -> "TrainingJob":
        """Reads a job.

        Args:
            path: the JSON file.

        Returns:
            The job.

        Raises:
            ConfigError: the file is absent, no JSON object, or has faulty keys.
        """
        try:
            content = pydantic.TypeAdapter(dict[str, Any]).validate_json(
                path.read_bytes()
            )
        except FileNotFoundError:
            raise ConfigError(f"{path}: no such job; check the path") from None
        except pydantic.ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise ConfigError(
                f"{path}: no job in JSON: {reason}; write it with TrainingJob.save"
            ) from None
        return parse(cls, content, str(path))

    def save(self, path: Path) -> None:
        """Writes the job as JSON.

        Args:
            path: the file; folders above it are made.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(indent=2) + "\n", "utf-8")

    @property
    def train(self) -> TrainConfig:
        """How to train.

        Raises:
            ConfigError: ``custom_config.train`` is absent or faulty.
        """
        try:
            return TrainConfig.model_validate_json(self.custom_config["train"])
        except (KeyError, pydantic.ValidationError) as error:
            reason = str(error).replace("\n", " ")
            raise ConfigError(
                f"custom_config.train: must be the JSON text of a TrainConfig: {reason}"
            ) from None


def find_place(job: TrainingJob) -> Cluster | None:
    """Finds the cluster of this process, and checks that the job goes with it.

    Args:
        job: the training.

    Returns:
        The cluster, if there is one.

    Raises:
        ConfigError: cluster or strategy are faulty, or do not go together.
    """
    cluster = find_cluster(os.environ)
    check_strategy(job.train.strategy, cluster)
    return cluster


def run(job: TrainingJob) -> None:
    """Does this process's part of a training.

    The chief, and a process on its own, write the outputs. Workers write theirs to a
    scratch folder, since TensorFlow exports on all or on none. Workers and parameter
    servers of a chief serve it.

    Args:
        job: the training.

    Raises:
        ConfigError: cluster or strategy are faulty.
        ClusterLostError: another task of the cluster is gone.
        RunError: the training failed, or a task never answered.
    """
    cluster = find_place(job)
    if cluster is not None and cluster.is_server:
        from components.cluster.server import serve

        serve(cluster, job.train.cluster_timeout)
        return
    with _own_outputs(job, cluster) as own:
        from components.trainer import run_fn

        run_fn(own)


@contextlib.contextmanager
def _own_outputs(job: TrainingJob, cluster: Cluster | None) -> Iterator[TrainingJob]:
    """The job with folders that this process may write, removed if they do not count."""
    if cluster is None or cluster.is_chief:
        yield job
        return
    folder = Path(
        job.model_run_dir, _WORKERS, f"{cluster.task_type}-{cluster.task_index}"
    )
    # A worker that was killed has left its own.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield job.model_copy(
            update={
                "serving_model_dir": str(folder / "model"),
                "model_run_dir": str(folder),
            }
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # Others still have theirs in it.
            folder.parent.rmdir()

"""Settings of training and evaluation."""

from typing import Annotated, Literal

import pydantic

from components.gates_config import GatesConfig
from data.paths import is_remote
from data.settings import Columns, Settings

# Name of a class; that it is a metric is seen when the pipeline is built.
MetricName = Annotated[str, pydantic.Field(pattern=r"^[A-Z][A-Za-z0-9]*$")]


Strategy = Literal[
    "default", "mirrored", "multi_worker_mirrored", "parameter_server", "tpu"
]


class ValidationConfig(Settings):
    """What the validation rows decide; they are scored after each epoch."""

    monitor: Literal["gauc", "log_loss"] | None = pydantic.Field(
        None,
        description=(
            "Stop when it no longer improves, and keep the best epoch's weights; "
            "without it validation only informs."
        ),
    )
    # Networks of click logs mostly overfit from one epoch to the next and do not come
    # back (Zhang et al. 2022, https://arxiv.org/abs/2209.06053).
    patience: int = pydantic.Field(
        1, ge=1, description="Epochs in a row without improvement that end a training."
    )
    # A change of 0.001 counts as significant for click models (Song et al. 2019,
    # https://arxiv.org/abs/1810.11921); half of it is not worth another epoch.
    min_delta: float = pydantic.Field(
        0.0005, ge=0, description="Least change that is an improvement."
    )
    # 20 MB; see components/metrics/keras_group_auc.py.
    capacity: int = pydantic.Field(
        1 << 20,
        ge=1024,
        description="Rows for which GAUC is exact; beyond, it samples users.",
    )


class StagingConfig(Settings):
    """How shards are copied to the local disk ahead of reading."""

    when: Literal["remote", "always", "never"] = pydantic.Field(
        "remote",
        description=(
            "remote: shards whose path has a scheme, such as gs://. always: also those "
            "of mounted storage that stalls."
        ),
    )
    # At 100 MB/s, what a single stream of object storage gives, more than three minutes
    # of reading; small beside the disk of a machine that trains.
    limit_gib: float = pydantic.Field(
        20, gt=0, description="Most room that the copies of a process take, in GiB."
    )
    folder: str | None = pydantic.Field(
        None,
        description=(
            "Receives the copies; without it the system's temporary folder. Name one "
            "on a disk where that is held in memory."
        ),
    )

    @pydantic.field_validator("folder")
    @classmethod
    def _is_local(cls, folder: str | None) -> str | None:
        """Refuses a folder on remote storage."""
        if folder and is_remote(folder):
            raise ValueError(f"must be on the local disk, got '{folder}'")
        return folder


class TrainConfig(Settings):
    """How a network is trained. Batch sizes are global, over all replicas."""

    epochs: int = pydantic.Field(1, ge=1)
    # Large enough that a step of a small network is not dominated by the overhead of
    # the step itself, small enough that a day of a mid-sized log is still many steps.
    batch_size: int = pydantic.Field(1024, ge=1)
    optimizer: Literal["adam", "adagrad", "sgd"] = "adam"
    learning_rate: float = pydantic.Field(0.001, gt=0)
    base_batch_size: int | None = pydantic.Field(
        None,
        ge=1,
        description=(
            "Batch size that learning_rate was found with; another batch_size scales "
            "the rate in proportion. Without it the rate is taken as it is."
        ),
    )
    warmup_steps: int = pydantic.Field(
        0,
        ge=0,
        description=(
            "Steps over which the learning rate rises from nothing; large batches need "
            "some hundreds."
        ),
    )
    # 1: a single epoch, the usual case of click logs, has nothing to decay.
    learning_rate_decay: float = pydantic.Field(
        1.0,
        gt=0,
        le=1,
        description="Factor on the learning rate after each epoch.",
    )
    weight_decay: float = pydantic.Field(
        0.0,
        ge=0,
        description=(
            "Share of a weight, times the learning rate, that a step takes off; of a "
            "table only from the rows of the batch. Adam and Adagrad only."
        ),
    )
    clip_norm: float | None = pydantic.Field(
        None,
        gt=0,
        description="Longest gradient over all weights; a longer one is scaled down.",
    )
    precision: Literal["float32", "bfloat16"] = pydantic.Field(
        "float32",
        description=(
            "Type of the layers' arithmetic; weights and the logit stay float32. "
            "bfloat16 is for accelerators that have it."
        ),
    )
    calibrate: bool = pydantic.Field(
        True,
        description=(
            "After training, shift the bias so that predicted clicks of the training "
            "rows equal observed ones; costs one pass without gradients."
        ),
    )
    seed: int = 0
    deterministic: bool = pydantic.Field(
        False,
        description=(
            "Only operations that give the same bits on every run; slower on "
            "accelerators. Then a training that was killed and went on ends with the "
            "weights of one that was not."
        ),
    )
    # Rows shuffled together after shards were shuffled; two million rows of a dozen
    # ids are about 200 MB.
    shuffle_rows: int = pydantic.Field(200_000, ge=1)
    strategy: Strategy = "default"
    read_by: Literal["rows", "files"] = pydantic.Field(
        "rows",
        description=(
            "How several workers share the input. rows: each reads every shard and "
            "takes its part of each batch, so that batches do not depend on the number "
            "of workers. files: each reads its own shards, for many workers."
        ),
    )
    staleness: int | None = pydantic.Field(
        None,
        ge=0,
        description=(
            "With parameter_server: number of earlier steps whose updates a step may "
            "miss; 0 is one step at a time. Without it as many as there are workers."
        ),
    )
    cluster_timeout: int = pydantic.Field(
        300,
        ge=1,
        description="Seconds that a task waits for the others of its cluster.",
    )
    # 5,000 steps of 1,024 rows are some minutes, and writing the checkpoint of a model
    # of half a gigabyte takes a second or two.
    checkpoint_steps: int = pydantic.Field(
        5000, ge=1, description="Steps between two checkpoints, by which a kill costs."
    )
    profile_steps: tuple[int, int] | None = pydantic.Field(
        None,
        description="First and last step that TensorBoard's profiler records.",
    )
    staging: StagingConfig = StagingConfig()
    validation: ValidationConfig = ValidationConfig()

    @pydantic.model_validator(mode="after")
    def _combinations(self) -> "TrainConfig":
        """Refuses settings that contradict each other."""
        if self.weight_decay and self.optimizer == "sgd":
            raise ValueError(
                "weight_decay: sgd has none; use adam or adagrad, or a penalty of the "
                "model such as embedding_l2"
            )
        if self.staleness is not None and self.strategy != "parameter_server":
            raise ValueError(
                f"staleness: {self.strategy} updates in step; only parameter_server "
                "has it"
            )
        if (
            self.profile_steps
            and not 0 < self.profile_steps[0] <= self.profile_steps[1]
        ):
            raise ValueError(
                f"profile_steps: {list(self.profile_steps)} is no range of steps; give "
                "first and last, from 1"
            )
        return self


class TopSlices(Settings):
    """Slices of the values with most rows; they inform and are not gated."""

    slice: Columns = pydantic.Field(
        min_length=1, description="Columns of the slice; two names make a cross."
    )
    k: int = pydantic.Field(
        20, ge=1, le=1000, description="How many, those with most rows first."
    )


class EvaluateConfig(Settings):
    """What the Evaluator measures and what the gates demand."""

    slices: tuple[Columns, ...] = pydantic.Field(
        (), description="Columns to slice by; two names make a cross."
    )
    user_weight: Literal["impressions", "clicks", "users", "weight"] | None = (
        pydantic.Field(
            None,
            description=(
                "Mass of a user in GAUC; weight if a weight column is declared, "
                "else impressions."
            ),
        )
    )
    top_slices: tuple[TopSlices, ...] = pydantic.Field(
        (), description="Columns of many values, of which the most frequent are shown."
    )
    min_slice_rows: int = pydantic.Field(
        0, ge=0, description="Smaller slices are not reported."
    )
    tfma_metrics: tuple[MetricName, ...] = pydantic.Field(
        (),
        description=(
            "Classes of tfma.metrics to compute besides, such as AUC; a second pass "
            "over the rows, by TFMA's own extractors, which informs only."
        ),
    )
    baseline: bool = pydantic.Field(
        True, description="Compare with the latest blessed model, where there is one."
    )
    reference: str | None = pydantic.Field(
        None,
        description=(
            "Folder of a pinned model, relative to this file, for gates.reference."
        ),
    )
    gates: GatesConfig = GatesConfig()

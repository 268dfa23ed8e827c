"""Settings of training and evaluation."""

from typing import Annotated, Literal

import pydantic

from components.gates_config import GatesConfig
from data.settings import Settings

# Name of a class; that it is a metric is seen when the pipeline is built.
MetricName = Annotated[str, pydantic.Field(pattern=r"^[A-Z][A-Za-z0-9]*$")]


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


class TrainConfig(Settings):
    """How a network is trained. Batch sizes are global, over all replicas."""

    epochs: int = pydantic.Field(1, ge=1)
    # Large enough that a step of a small network is not dominated by the overhead of
    # the step itself, small enough that a day of a mid-sized log is still many steps.
    batch_size: int = pydantic.Field(1024, ge=1)
    optimizer: Literal["adam", "adagrad", "sgd"] = "adam"
    learning_rate: float = pydantic.Field(0.001, gt=0)
    # 1: a single epoch, the usual case of click logs, has nothing to decay.
    learning_rate_decay: float = pydantic.Field(
        1.0,
        gt=0,
        le=1,
        description="Factor on the learning rate after each epoch.",
    )
    calibrate: bool = pydantic.Field(
        True,
        description=(
            "After training, shift the bias so that predicted clicks of the training "
            "rows equal observed ones; costs one pass without gradients."
        ),
    )
    seed: int = 0
    # Rows shuffled together after shards were shuffled; two million rows of a dozen
    # ids are about 200 MB.
    shuffle_rows: int = pydantic.Field(200_000, ge=1)
    strategy: Literal["default", "mirrored"] = "default"
    validation: ValidationConfig = ValidationConfig()


class TopSlices(Settings):
    """Slices of the values with most rows; they inform and are not gated."""

    slice: tuple[str, ...] = pydantic.Field(
        min_length=1, description="Columns of the slice; two names make a cross."
    )
    k: int = pydantic.Field(
        20, ge=1, le=1000, description="How many, those with most rows first."
    )


class EvaluateConfig(Settings):
    """What the Evaluator measures and what the gates demand."""

    slices: tuple[tuple[str, ...], ...] = pydantic.Field(
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
    reference: str | None = pydantic.Field(
        None,
        description=(
            "Folder of a pinned model, relative to this file, for gates.reference."
        ),
    )
    gates: GatesConfig = GatesConfig()

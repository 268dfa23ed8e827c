"""Settings of training and evaluation."""

from typing import Literal

import pydantic

from components.gates_config import GatesConfig
from data.settings import Settings


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
    gates: GatesConfig = GatesConfig()

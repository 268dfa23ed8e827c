"""Settings of a network."""

import pydantic

from data.errors import suggest
from data.settings import Settings
from models.registry import MODELS


class ModelConfig(Settings):
    """Which network, and its sizes. Settings that a network does not use are ignored."""

    name: str = pydantic.Field("dcn_v2", description=f"One of: {', '.join(MODELS)}.")
    # Wide enough for tables up to about a million rows; doubling it doubles the cost
    # of every embedding and rarely moves AUC by more than its own noise.
    embedding_dim: int = pydantic.Field(
        16,
        ge=1,
        description=(
            "DCN-v2, DeepFM: width of the embeddings, where a feature names no other."
        ),
    )
    embedding_l2: float = pydantic.Field(
        0.0,
        ge=0,
        description=(
            "DCN-v2, DeepFM: L2 on the embedding rows that a batch touches: this times "
            "the squared length of an example's rows, averaged over the batch."
        ),
    )
    linear_l2: float = pydantic.Field(
        0.0,
        ge=0,
        description=(
            "Logistic regression, DeepFM: the same for the weight of each id."
        ),
    )
    hidden: tuple[pydantic.PositiveInt, ...] = pydantic.Field(
        (128, 64), description="DCN-v2, DeepFM: widths of the dense layers."
    )
    dropout: float = pydantic.Field(
        0.0,
        ge=0,
        lt=1,
        description=(
            "DCN-v2, DeepFM: share of a dense layer's outputs that a training step "
            "drops."
        ),
    )
    cross_layers: int = pydantic.Field(2, ge=1, description="DCN-v2: cross layers.")
    cross_rank: int | None = pydantic.Field(
        None, ge=1, description="DCN-v2: rank of the cross weights; full when absent."
    )

    @pydantic.field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in MODELS:
            raise ValueError(
                f"unknown model '{name}'. Known: {', '.join(MODELS)}."
                f"{suggest(name, MODELS)}"
            )
        return name

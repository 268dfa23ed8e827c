"""DeepFM: linear part, factorisation machine and dense layers over the same vectors."""

import keras

from data.inputs import ModelInput
from models.config import ModelConfig
from models.fields import dense_layers, embed, equal_width, first_order
from models.layers import FactorizationMachine, Logit


def build(
    config: ModelConfig,
    inputs: tuple[ModelInput, ...],
    base_rate: float | None = None,
    table_partitions: int = 1,
) -> keras.Model:
    """Makes the network; with ``hidden: []`` it is a plain factorisation machine.

    Args:
        config: uses ``embedding_dim``, ``embedding_l2``, ``linear_l2``, ``hidden`` and
            ``dropout``.
        inputs: what the model reads.
        base_rate: share of clicks, where the bias starts.
        table_partitions: parts of each large table.

    Returns:
        Model from a dict of inputs to logits float32 [B, 1].

    References:
        Guo et al., 2017, https://arxiv.org/abs/1703.04247.
    """
    fields = embed(config, inputs, table_partitions)
    parts = first_order(config, inputs, fields, table_partitions)
    parts.append(
        FactorizationMachine(dtype="float32", name="pairs")(
            equal_width(config, inputs, fields)
        )
    )
    if config.hidden:
        hidden = dense_layers(config, fields.flat)
        parts.append(
            keras.layers.Dense(1, use_bias=False, dtype="float32", name="deep")(hidden)
        )
    return keras.Model(fields.inputs, Logit(base_rate, name="logit")(parts))

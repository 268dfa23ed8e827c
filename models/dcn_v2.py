"""DCN-v2: explicit crosses of bounded degree beside dense layers."""

import keras

from data.inputs import ModelInput
from models.config import ModelConfig
from models.fields import concatenated, dense_layers, embed
from models.layers import CrossLayer, Logit


def build(
    config: ModelConfig,
    inputs: tuple[ModelInput, ...],
    base_rate: float | None = None,
    table_partitions: int = 1,
) -> keras.Model:
    """Makes the network in its parallel form.

    Args:
        config: uses ``embedding_dim``, ``embedding_l2``, ``cross_layers``,
            ``cross_rank``, ``hidden`` and ``dropout``.
        inputs: what the model reads.
        base_rate: share of clicks, where the bias starts.
        table_partitions: parts of each large table.

    Returns:
        Model from a dict of inputs to logits float32 [B, 1].

    References:
        Wang et al., 2021, https://arxiv.org/abs/2008.13535, figure 1.
    """
    fields = embed(config, inputs, table_partitions)
    first = crossed = fields.flat  # [B, W]
    for _ in range(config.cross_layers):
        crossed = CrossLayer(config.cross_rank)(first, crossed)  # [B, W]
    parts = [crossed]
    if config.hidden:
        parts.append(dense_layers(config, first))
    logit = keras.layers.Dense(1, use_bias=False, dtype="float32", name="combined")(
        concatenated(parts)
    )
    return keras.Model(fields.inputs, Logit(base_rate, name="logit")([logit]))

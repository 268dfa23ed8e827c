"""Logistic regression on ids and numbers: the model to beat."""

import keras

from data.inputs import ModelInput
from models.config import ModelConfig
from models.fields import Fields, first_order, make_inputs, numbers_of
from models.layers import Logit


def build(
    config: ModelConfig,
    inputs: tuple[ModelInput, ...],
    base_rate: float | None = None,
    table_partitions: int = 1,
) -> keras.Model:
    """Makes the network: one weight an id (also of declared crosses) and a number.

    Args:
        config: uses ``linear_l2``.
        inputs: what the model reads.
        base_rate: share of clicks, where the bias starts.
        table_partitions: parts of each large table.

    Returns:
        Model from a dict of inputs to logits float32 [B, 1].
    """
    tensors = make_inputs(inputs)
    fields = Fields(tensors, {}, (), numbers_of(inputs, tensors))
    parts = first_order(config, inputs, fields, table_partitions)
    return keras.Model(tensors, Logit(base_rate, name="logit")(parts))

"""What a training step reads, put together from the columns of a batch."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from data.inputs import ModelInput


def model_batch(
    columns: Mapping[str, tf.Tensor],
    inputs: tuple[ModelInput, ...],
    label_name: str,
    weight_name: str | None,
    user_name: str | None,
) -> tuple[Any, ...]:
    """Inputs, label, weight, and the user if it is named.

    Args:
        columns: by name, [B] or [B, L].
        inputs: what the model reads.
        label_name: column of the label.
        weight_name: column of the example weight; all 1 when None.
        user_name: column of the user's hash; left out when None.

    Returns:
        (inputs by name, label float32 [B], weight float32 [B]), and the user int64 [B]
        behind them if it is named.
    """
    label = tf.cast(columns[label_name], tf.float32)
    weight = columns[weight_name] if weight_name else tf.ones_like(label)
    user = (columns[user_name],) if user_name else ()
    return {one.name: columns[one.name] for one in inputs}, label, weight, *user

"""The networks that a configuration can name."""

import importlib
from typing import Any

# Name in the configuration -> module with ``build``, which takes the same arguments.
# A literal table: nothing registers at import, and no network is imported unused.
MODELS = {
    "logistic_regression": "models.logistic_regression",
    "deepfm": "models.deepfm",
    "dcn_v2": "models.dcn_v2",
}


def build(
    config: Any,
    inputs: Any,
    base_rate: float | None = None,
    table_partitions: int = 1,
    precision: str = "float32",
) -> Any:
    """Builds the network that the configuration names.

    Args:
        config: a ``models.config.ModelConfig``.
        inputs: tuple of ``data.inputs.ModelInput``.
        base_rate: share of clicks in the training rows, where the bias starts.
        table_partitions: variables that hold the rows of a large embedding table, such
            as one for each parameter server.
        precision: ``float32``, or ``bfloat16`` for the arithmetic of embeddings and
            hidden layers; weights, first-order parts and the logit stay float32.

    Returns:
        A ``keras.Model`` from a dict of inputs to logits float32 [batch, 1].
    """
    import keras

    module = importlib.import_module(MODELS[config.name])
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(
        "float32" if precision == "float32" else f"mixed_{precision}"
    )
    try:
        return module.build(config, inputs, base_rate, table_partitions)
    finally:
        keras.config.set_dtype_policy(before)

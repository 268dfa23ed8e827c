"""The networks that a configuration can name."""

import importlib
from typing import Any

# Name in the configuration -> module with ``build(config, inputs, base_rate)``.
# A literal table: nothing registers at import, and no network is imported unused.
MODELS = {
    "logistic_regression": "models.logistic_regression",
    "deepfm": "models.deepfm",
    "dcn_v2": "models.dcn_v2",
}


def build(config: Any, inputs: Any, base_rate: float | None = None) -> Any:
    """Builds the network that the configuration names.

    Args:
        config: a ``models.config.ModelConfig``.
        inputs: tuple of ``data.inputs.ModelInput``.
        base_rate: share of clicks in the training rows, where the bias starts.

    Returns:
        A ``keras.Model`` from a dict of inputs to logits float32 [batch, 1].
    """
    return importlib.import_module(MODELS[config.name]).build(config, inputs, base_rate)

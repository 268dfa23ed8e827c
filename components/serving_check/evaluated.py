"""Predictions as the evaluation gets them: TFMA's loader, the Evaluator's signature."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tensorflow_model_analysis as tfma
from numpy.typing import NDArray

from components.evaluation import SIGNATURE, eval_config
from components.extract_settings import read_settings
from components.extract_values import read_batch


def evaluated_predictions(model: str, rows: Sequence[bytes]) -> NDArray[np.float64]:
    """Predicts rows as one batch in this process, on its CPU.

    Args:
        model: folder of the SavedModel.
        rows: serialized tf.Examples.

    Returns:
        Predictions [rows], read from the outputs as for the metrics.
    """
    config = eval_config(label_key="")
    shared = tfma.default_eval_shared_model(model, eval_config=config)
    # The replay has no accelerator, whose arithmetic differs by more than batches do.
    with tf.device("/CPU:0"):
        loaded = shared.model_loader.load()
        outputs = loaded.signatures[SIGNATURE](tf.constant(list(rows)))
    predictions = {name: tensor.numpy() for name, tensor in outputs.items()}
    extracts = {tfma.FEATURES_KEY: {}, tfma.PREDICTIONS_KEY: predictions}
    return read_batch(extracts, read_settings(config)).scores

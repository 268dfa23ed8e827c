"""After calibration the training rows' predictions sum to their clicks."""

import math

import numpy as np
import pytest

from components.calibration import bias_shift, calibrate_bias


def test_equal_logits_move_to_the_logit_of_the_click_rate() -> None:
    # Three of four rows are clicks: every logit must become log(3).
    shift = bias_shift(np.full(4, 0.5), np.array([1.0, 1, 0, 1]), np.ones(4))
    assert shift == pytest.approx(math.log(3) - 0.5, abs=1e-8)


def test_weights_count_as_repeated_rows() -> None:
    random = np.random.default_rng(0)
    logits, labels = random.normal(-2, 1, 50), (random.random(50) < 0.3) * 1.0
    weights = random.integers(1, 4, 50)
    repeated = bias_shift(
        np.repeat(logits, weights), np.repeat(labels, weights), np.ones(weights.sum())
    )
    weighted = bias_shift(logits, labels, weights.astype(float))
    assert weighted == pytest.approx(repeated, abs=1e-8)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_class_leaves_the_model_alone(label: float) -> None:
    assert bias_shift(np.zeros(3), np.full(3, label), np.ones(3)) == 0.0


def test_model_predicts_as_many_clicks_as_there_are() -> None:
    import tensorflow as tf

    from data.inputs import ModelInput
    from models.config import ModelConfig
    from models.registry import build

    inputs = (ModelInput(name="x", kind="number"),)
    model = build(ModelConfig(name="dcn_v2", hidden=(4,)), inputs, base_rate=0.5)
    for weight in model.trainable_variables:
        weight.assign(0.1 * weight)  # predictions near one half, whatever the start
    random = np.random.default_rng(1)
    x = random.normal(size=300).astype(np.float32)
    y = (random.random(300) < 0.2).astype(np.float32)
    rows = tf.data.Dataset.from_tensor_slices(({"x": x}, y, np.ones_like(y))).batch(128)
    before = tf.sigmoid(model({"x": x})).numpy().sum()
    shift = calibrate_bias(model, rows)
    after = tf.sigmoid(model({"x": x})).numpy().sum()
    assert shift < 0
    assert before > 1.5 * y.sum()
    assert after == pytest.approx(y.sum(), rel=1e-4)

"""PCOP as a Keras metric."""

import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from components.metrics.keras_pcop import PCOP


def test_is_predicted_over_observed_clicks_by_hand():
    metric = PCOP()
    metric.update_state([1, 0], [0.5, 0.25], [2, 4])
    metric.update_state([[1], [0]], [[0.75], [0.25]])
    # Predicted 1 + 1 + 0.75 + 0.25, observed clicks 2 + 1.
    assert float(metric.result()) == 1.0


def test_is_undefined_without_clicks():
    metric = PCOP()
    assert math.isnan(metric.result())
    metric.update_state([0, 0], [0.5, 0.5])
    assert math.isnan(metric.result())
    metric.update_state([1], [1.0])
    metric.reset_state()
    assert math.isnan(metric.result())


def test_small_probabilities_are_added_beyond_what_float32_holds():
    metric = PCOP(dtype="float64")
    metric.update_state([1], [2.0**24])
    for _ in range(3):
        metric.update_state([0], [1.0])  # float32 would stay at 2**24
    assert float(metric.result()) == 2**24 + 3


def test_a_compiled_model_is_loaded_with_it(tmp_path):
    random = np.random.default_rng(0)
    x = random.random((500, 1)).astype(np.float32)
    y = (random.random(500) < 0.3).astype(np.float32)
    model = keras.Sequential(
        [keras.Input([1]), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("sgd", "binary_crossentropy", metrics=[PCOP()])
    model.fit(x, y, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")

    found = loaded.evaluate(x, y, verbose=0, return_dict=True)["pcop"]

    assert found == pytest.approx(model.predict(x, verbose=0).sum() / y.sum(), rel=1e-5)


def test_graph_mode_takes_any_batch():
    metric = PCOP()
    update = tf.function(metric.update_state, reduce_retracing=True)
    for size in (3, 5, 1):
        update(tf.ones(size), tf.fill([size], 0.5))
    assert float(metric.result()) == 0.5

import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from models.layers import (
    CrossLayer,
    FactorizationMachine,
    Logit,
    NumberEmbedding,
)


def test_factorization_machine_sums_the_products_of_all_pairs():
    fields = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)

    total = FactorizationMachine()(fields)

    expected = [
        [sum(row[i] @ row[j] for i in range(4) for j in range(i))] for row in fields
    ]
    np.testing.assert_allclose(total, expected, rtol=1e-4, atol=1e-5)


def test_full_cross_is_first_times_affine_plus_input():
    layer = CrossLayer()
    first, x = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])
    layer(first, x)
    layer.up.kernel.assign([[1, 0], [2, 1]])
    layer.up.bias.assign([0.5, 0])

    # W x + b = (3 + 8 + 0.5, 4); times (1, 2); plus (3, 4).
    np.testing.assert_allclose(layer(first, x), [[11.5 * 1 + 3, 4 * 2 + 4]])


@pytest.mark.parametrize(
    ("rank", "parameters"),
    [
        (None, 6 * 6 + 6),
        (2, 6 * 2 + 2 * 6 + 6),
        # A rank of the full width would only cost more: full weights instead.
        (6, 6 * 6 + 6),
    ],
)
def test_rank_decides_the_number_of_cross_weights(rank, parameters):
    layer = CrossLayer(rank)
    layer(tf.zeros([1, 6]), tf.zeros([1, 6]))

    assert layer.count_params() == parameters


def test_numbers_scale_their_vectors():
    layer = NumberEmbedding(3)
    layer.build((None, 2))
    layer.vectors.assign([[1, 2, 3], [4, 5, 6]])

    np.testing.assert_allclose(
        layer(tf.constant([[2.0, -1.0]])), [[[2, 4, 6], [-4, -5, -6]]]
    )


@pytest.mark.parametrize(
    ("rate", "logit"),
    [(0.2, math.log(0.2 / 0.8)), (None, 0.0), (0.0, 0.0), (1.0, 0.0)],
)
def test_logit_starts_at_the_base_rate_where_that_is_finite(rate, logit):
    parts = [tf.constant([[1.0]]), tf.constant([[2.0]])]

    assert float(Logit(rate)(parts)[0, 0]) == pytest.approx(3 + logit)


@pytest.mark.parametrize(
    "layer",
    [
        NumberEmbedding(3),
        FactorizationMachine(),
        CrossLayer(rank=2),
        Logit(0.3),
    ],
)
def test_a_layer_survives_serialisation(layer):
    again = keras.layers.deserialize(keras.layers.serialize(layer))

    assert type(again) is type(layer)
    assert again.get_config() == layer.get_config()

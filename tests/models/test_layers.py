import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from models.layers import (
    CrossLayer,
    EmbeddingTable,
    FactorizationMachine,
    Logit,
    MaskedMean,
    NumberEmbedding,
)

ROWS = np.array([[9, 9], [1, 2], [3, 4], [5, 6]], np.float32)


def table(**kwargs):
    layer = EmbeddingTable(4, 2, **kwargs)
    layer.build(None)
    layer.table.assign(ROWS)
    return layer


def test_a_table_gives_the_rows_of_single_ids_and_of_lists():
    layer = table()

    np.testing.assert_array_equal(layer(tf.constant([2, 1])), ROWS[[2, 1]])
    np.testing.assert_array_equal(layer(tf.constant([[2, 0]])), ROWS[[[2, 0]]])


def test_penalty_is_the_mean_over_examples_of_squared_row_lengths():
    layer = table(l2=0.1)

    layer(tf.constant([1, 2, 1]), training=True)

    # Rows (1, 2), (3, 4), (1, 2): (5 + 25 + 5) / 3, times 0.1.
    assert float(layer.losses[0]) == pytest.approx(0.1 * (5 + 25 + 5) / 3)


def test_penalty_of_a_list_is_the_mean_over_its_ids_without_padding():
    layer = table(l2=0.1)

    layer(tf.constant([[1, 2, 0], [3, 0, 0], [0, 0, 0]]), training=True)

    # (5 + 25) / 2 = 15; 61; 0 for the empty list. Over three examples, times 0.1.
    assert float(layer.losses[0]) == pytest.approx(0.1 * (15 + 61 + 0) / 3, rel=1e-6)


@pytest.mark.parametrize(("l2", "training"), [(0.1, False), (0.0, True)])
def test_there_is_no_penalty_outside_training_or_at_strength_zero(l2, training):
    layer = table(l2=l2)

    layer(tf.constant([1]), training=training)

    assert layer.losses == []


def test_an_empty_batch_has_no_penalty():
    layer = table(l2=0.1)

    layer(tf.zeros([0], tf.int64), training=True)

    assert float(layer.losses[0]) == 0.0


def test_gradients_of_rows_and_penalty_stay_sparse():
    layer = table(l2=0.5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant([1, 3]), training=True))
        loss += tf.add_n(layer.losses)
    gradient = tape.gradient(loss, layer.table.value)

    assert isinstance(gradient, tf.IndexedSlices)
    # 1 of the sum, and 2 * 0.5 / 2 rows times the row itself.
    expected = np.zeros_like(ROWS)
    expected[[1, 3]] = 1 + 0.5 * ROWS[[1, 3]]
    np.testing.assert_allclose(tf.convert_to_tensor(gradient), expected)


def test_masked_mean_leaves_padding_out_and_an_empty_list_is_zero():
    ids = tf.constant([[1, 2, 0], [0, 0, 0]])

    mean = MaskedMean()(tf.gather(ROWS, ids), ids)

    np.testing.assert_allclose(mean, [[(1 + 3) / 2, (2 + 4) / 2], [0, 0]])


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
        EmbeddingTable(4, 2, l2=0.1, initial_scale=0.0),
        MaskedMean(),
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

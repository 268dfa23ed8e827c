import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.embedding_table import EmbeddingTable
from models.hashing import hashed_rows
from models.sparse_optimizers import RowSparseAdagrad, RowSparseAdam

ROWS = np.array([[9, 9], [1, 2], [3, 4], [5, 6]], np.float32)


def table(rows=ROWS, **kwargs):
    """A built table that holds these rows, in however many parts."""
    layer = EmbeddingTable(*rows.shape, **kwargs)
    layer.build(None)
    parts = layer.partitions
    padded = np.pad(rows, [(0, -len(rows) % parts), (0, 0)])
    for number, part in enumerate(layer.parts):
        part.assign(padded[number::parts])
    return layer


def rows_of(layer):
    """All rows in order: row r is row r // P of part r % P."""
    return np.array(
        [
            layer.parts[row % layer.partitions].numpy()[row // layer.partitions]
            for row in range(layer.size)
        ]
    )


def gradients(layer, ids, weights):
    """Gradients of the parts for the sum of vectors times weights, and the penalty."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant(ids), training=True) * weights)
        loss += tf.add_n([tf.constant(0.0), *layer.losses])
    return tape.gradient(loss, [part.value for part in layer.parts])


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_single_id_gives_its_row_and_a_list_the_mean_without_padding(partitions):
    layer = table(partitions=partitions)

    np.testing.assert_array_equal(layer(tf.constant([2, 1, 0])), ROWS[[2, 1, 0]])
    np.testing.assert_allclose(
        layer(tf.constant([[1, 2, 0], [0, 0, 0], [0, 3, 3]])),
        [[(1 + 3) / 2, (2 + 4) / 2], [0, 0], [5, 6]],
    )


def test_the_gradient_of_a_list_holds_its_ids_and_no_padding():
    layer = table()

    (gradient,) = gradients(layer, [[1, 2, 0], [3, 0, 0]], 1.0)

    assert gradient.indices.numpy().tolist() == [1, 2, 3]
    np.testing.assert_allclose(gradient.values, [[0.5, 0.5], [0.5, 0.5], [1, 1]])


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


@pytest.mark.parametrize("kwargs", [{}, {"partitions": 2}, {"hashes": 2}])
def test_an_empty_batch_has_no_rows_and_no_penalty(kwargs):
    layer = table(l2=0.1, **kwargs)

    vectors = layer(tf.zeros([0, 3], tf.int64), training=True)

    assert vectors.shape == (0, 2)
    assert float(layer.losses[0]) == 0.0


def test_gradients_of_rows_and_penalty_stay_sparse():
    layer = table(l2=0.5)

    (gradient,) = gradients(layer, [1, 3], 1.0)

    assert isinstance(gradient, tf.IndexedSlices)
    # 1 of the sum, and 2 * 0.5 / 2 rows times the row itself.
    expected = np.zeros_like(ROWS)
    expected[[1, 3]] = 1 + 0.5 * ROWS[[1, 3]]
    np.testing.assert_allclose(tf.convert_to_tensor(gradient), expected)


def test_the_vector_of_several_hashes_is_the_sum_of_their_rows():
    layer = table(l2=0.1, hashes=3)
    ids = tf.constant([[123456789, 0], [2**62 + 1, 987654321]])
    rows = hashed_rows(ids, 3, 3).numpy()  # three buckets: row 0 is for absent ids

    vectors = layer(ids, training=True)

    expected = ROWS[rows].sum(axis=2)
    means = [expected[0, 0], expected[1].mean(axis=0)]
    np.testing.assert_allclose(vectors, means)
    # The absent id of the first list counts neither as a square nor as an id.
    squares = (expected**2).sum(axis=2)
    penalty = 0.1 * (squares[0, 0] + squares[1].mean()) / 2
    assert float(layer.losses[0]) == pytest.approx(penalty)


def test_gradients_of_several_hashes_touch_only_their_rows():
    layer = table(rows=np.ones((1001, 2), np.float32), hashes=2)
    ids = [11, 2**50 + 5, 0]

    (gradient,) = gradients(layer, ids, 1.0)

    assert isinstance(gradient, tf.IndexedSlices)
    assert gradient.values.shape == (6, 2)  # three ids, two rows each
    expected = np.zeros((1001, 2))
    np.add.at(expected, hashed_rows(tf.constant(ids), 1000, 2).numpy().ravel(), 1.0)
    np.testing.assert_allclose(tf.convert_to_tensor(gradient), expected)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), size=st.integers(1, 12), partitions=st.integers(1, 5))
def test_any_number_of_parts_gives_the_rows_of_the_whole_table(data, size, partitions):
    ids = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=9))
    rows = np.arange(2.0 * size, dtype=np.float32).reshape(size, 2)
    layer = table(rows, partitions=partitions)

    np.testing.assert_array_equal(layer(tf.constant(ids, tf.int64)), rows[ids])
    np.testing.assert_array_equal(rows_of(layer), rows)
    # ceil(size / P) rows each.
    lengths = {part.shape[0] for part in layer.parts}
    assert lengths == {(size + partitions - 1) // partitions}


def test_parts_start_from_values_of_their_own():
    layer = EmbeddingTable(8, 2, partitions=2)
    layer.build(None)

    assert not np.array_equal(layer.parts[0].numpy(), layer.parts[1].numpy())
    assert [part.name for part in layer.parts] == ["table_0", "table_1"]


def test_gradients_of_parts_hold_the_rows_of_the_batch_and_no_more():
    layer = table(rows=np.ones((3000, 2), np.float32), partitions=3)

    found = gradients(layer, [[6, 3], [4, 2997]], 1.0)

    # Parts of 6, 3 and 2997: the first, at rows 2, 1 and 999; of 4: the second, at 1.
    assert [one.indices.numpy().tolist() for one in found] == [[2, 1, 999], [1], []]
    assert [one.values.shape[0] for one in found] == [3, 1, 0]


@pytest.mark.parametrize("hashes", [1, 2])
@pytest.mark.parametrize(
    "make", [RowSparseAdam, RowSparseAdagrad, keras.optimizers.SGD]
)
def test_optimizers_update_parts_as_the_whole_table(make, hashes):
    random = np.random.default_rng(0)
    start = random.normal(size=(10, 4)).astype(np.float32)
    batches = [random.integers(0, 10, 6) for _ in range(4)]
    weights = random.normal(size=(6, 4)).astype(np.float32)
    trained = []
    for partitions in (1, 3):
        layer = table(start, l2=0.1, hashes=hashes, partitions=partitions)
        optimizer = make(0.1)
        optimizer.build(layer.trainable_variables)
        for ids in batches:
            found = gradients(layer, ids, weights)
            optimizer.apply(found, layer.trainable_variables)
        trained.append(rows_of(layer))

    assert not np.allclose(trained[0], start)
    # The same sums of float32, perhaps in another order.
    np.testing.assert_allclose(trained[1], trained[0], atol=1e-6)


def test_a_table_survives_serialisation():
    layer = EmbeddingTable(4, 2, l2=0.1, initial_scale=0.0, hashes=2, partitions=3)

    again = keras.layers.deserialize(keras.layers.serialize(layer))

    assert again.get_config() == layer.get_config()

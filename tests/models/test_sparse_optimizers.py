import keras
import numpy as np
import pytest
import tensorflow as tf

from models.sparse_optimizers import (
    RowSparseAdagrad,
    RowSparseAdam,
    RowSparseSGD,
    unique_rows,
)

ROWS, DIM = 5, 2
START = np.arange(ROWS * DIM, dtype=np.float32).reshape(ROWS, DIM) / 10


def slices(values, indices):
    return tf.IndexedSlices(
        tf.constant(values, tf.float32), tf.constant(indices, tf.int64), [ROWS, DIM]
    )


def table(optimizer):
    variable = keras.Variable(START)
    optimizer.build([variable])
    return variable


def dense(gradient):
    return tf.convert_to_tensor(gradient)


def test_repeated_indices_are_summed_in_order_of_first_occurrence():
    summed = unique_rows(slices([[1, 2], [3, 4], [10, 20]], [4, 0, 4]))

    assert summed.indices.numpy().tolist() == [4, 0]
    assert summed.values.numpy().tolist() == [[11, 22], [3, 4]]


def test_first_adam_step_moves_touched_rows_by_the_learning_rate():
    # With zero moments the first step is lr * g / (|g| + epsilon'), so lr * sign(g).
    optimizer = RowSparseAdam(0.1)
    variable = table(optimizer)

    optimizer.apply([slices([[2, -3], [2, -3]], [1, 1])], [variable])

    expected = START.copy()
    expected[1] += [-0.1, 0.1]
    np.testing.assert_allclose(variable.numpy(), expected, atol=1e-6)


def adam_by_hand(gradients, rate, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    """Lazy Adam in float64, one row after the other."""
    weights = START.astype(np.float64)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step, by_row in enumerate(gradients, start=1):
        for row, gradient in by_row.items():
            gradient = np.asarray(gradient, np.float64)
            first[row] = beta_1 * first[row] + (1 - beta_1) * gradient
            second[row] = beta_2 * second[row] + (1 - beta_2) * gradient**2
            scale = np.sqrt(1 - beta_2**step) / (1 - beta_1**step)
            weights[row] -= rate * scale * first[row] / (np.sqrt(second[row]) + epsilon)
    return weights


def test_adam_follows_the_lazy_formula_over_several_steps():
    gradients = [{0: [1, -2], 3: [0.5, 4]}, {3: [-1, 1]}, {0: [2, 2], 4: [1, 1]}]
    optimizer = RowSparseAdam(0.05)
    variable = table(optimizer)

    for by_row in gradients:
        gradient = slices(list(by_row.values()), list(by_row))
        optimizer.apply([gradient], [variable])

    # float32 against float64 over three steps of size 0.05.
    np.testing.assert_allclose(
        variable.numpy(), adam_by_hand(gradients, 0.05), atol=1e-6
    )


def test_untouched_rows_keep_weights_and_moments():
    optimizer = RowSparseAdam(0.1)
    variable = table(optimizer)
    optimizer.apply([slices([[1, 1]], [2])], [variable])
    before = [one.numpy().copy() for one in optimizer.variables[2:]]

    optimizer.apply([slices([[1, 1]], [0])], [variable])

    for old, new in zip(before, optimizer.variables[2:], strict=True):
        np.testing.assert_array_equal(old[1:], new.numpy()[1:])
    np.testing.assert_array_equal(variable.numpy()[[1, 3, 4]], START[[1, 3, 4]])


def test_adam_equals_keras_when_every_row_is_touched_each_step():
    ours, theirs = RowSparseAdam(0.01), keras.optimizers.Adam(0.01)
    sparse, full = table(ours), table(theirs)
    for step in range(4):
        values = np.random.default_rng(step).normal(size=(ROWS, DIM))
        gradient = slices(values, np.arange(ROWS))
        ours.apply([gradient], [sparse])
        theirs.apply([dense(gradient)], [full])

    np.testing.assert_allclose(sparse.numpy(), full.numpy(), atol=1e-6)


def test_adagrad_equals_keras_whatever_is_touched():
    ours, theirs = RowSparseAdagrad(0.1), keras.optimizers.Adagrad(0.1)
    sparse, full = table(ours), table(theirs)
    for step in range(4):
        random = np.random.default_rng(step)
        gradient = slices(random.normal(size=(3, DIM)), random.integers(0, ROWS, 3))
        ours.apply([gradient], [sparse])
        theirs.apply([dense(gradient)], [full])

    np.testing.assert_allclose(sparse.numpy(), full.numpy(), atol=1e-6)


@pytest.mark.parametrize("ours", [RowSparseAdam, RowSparseAdagrad])
def test_dense_gradients_get_the_formula_of_the_base_class(ours):
    theirs = {
        RowSparseAdam: keras.optimizers.Adam,
        RowSparseAdagrad: keras.optimizers.Adagrad,
    }[ours]
    results = []
    for optimizer in (ours(0.1), theirs(0.1)):
        variable = table(optimizer)
        for step in range(3):
            optimizer.apply([tf.constant(START + step)], [variable])
        results.append(variable.numpy())

    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("kind", [RowSparseAdam, RowSparseAdagrad])
def test_an_optimizer_survives_serialisation(kind):
    optimizer = kind(0.02, reduced=True)

    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))

    assert type(again) is kind
    assert again.get_config() == optimizer.get_config()


def test_a_promise_of_unique_rows_gives_the_same_update():
    results = []
    for unique in (False, True):
        optimizer = RowSparseAdam(0.1, reduced=unique)
        variable = table(optimizer)
        optimizer.apply([slices([[1, 2], [3, 4]], [3, 1])], [variable])
        results.append(variable.numpy())

    np.testing.assert_array_equal(results[0], results[1])


def test_amsgrad_is_refused_with_the_alternative():
    with pytest.raises(ValueError, match=r"amsgrad must be False, got True.*Adam"):
        RowSparseAdam(0.1, amsgrad=True)


def test_gradient_descent_moves_the_rows_of_the_batch():
    optimizer = RowSparseSGD(0.5)
    variable = table(optimizer)
    start = variable.numpy()

    optimizer.apply([slices([[1, 2], [3, 4], [10, 20]], [4, 0, 4])], [variable])

    # Row 4 occurs twice: 0.5 * (1 + 10), 0.5 * (2 + 20).
    expected = start.copy()
    expected[0] -= [1.5, 2]
    expected[4] -= [5.5, 11]
    np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-6)


def test_momentum_is_refused_with_the_alternative():
    with pytest.raises(ValueError, match=r"momentum must be 0, got 0\.9.*SGD"):
        RowSparseSGD(0.1, momentum=0.9)


@pytest.mark.parametrize("kind", [RowSparseAdam, RowSparseAdagrad])
def test_weight_decay_reaches_only_the_rows_of_the_batch(kind):
    """A decayed row is the undecayed one less rate * decay * row, as in AdamW."""
    moved = {}
    for decay in (None, 0.25):
        optimizer = kind(0.1, weight_decay=decay)
        variable = table(optimizer)
        start = variable.numpy()
        optimizer.apply([slices([[1, 2], [3, 4], [1, 1]], [3, 1, 3])], [variable])
        moved[decay] = variable.numpy()

    expected = moved[None].copy()
    expected[[1, 3]] -= 0.1 * 0.25 * start[[1, 3]]
    np.testing.assert_allclose(moved[0.25], expected, rtol=1e-6)
    np.testing.assert_array_equal(moved[0.25][[0, 2, 4]], start[[0, 2, 4]])


@pytest.mark.parametrize("ours", [RowSparseAdam, RowSparseAdagrad])
def test_dense_weights_decay_as_in_keras(ours):
    theirs = {
        RowSparseAdam: keras.optimizers.Adam,
        RowSparseAdagrad: keras.optimizers.Adagrad,
    }[ours]
    results = []
    for kind in (ours, theirs):
        optimizer = kind(0.1, weight_decay=0.3)
        variable = keras.Variable(np.array([1.0, -2.0, 3.0], np.float32))
        optimizer.build([variable])
        for _ in range(3):
            optimizer.apply([tf.constant([0.5, 0.1, -0.2])], [variable])
        results.append(variable.numpy())

    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)

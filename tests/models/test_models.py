"""What every network of the registry must do, and what sets each apart."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from data.inputs import ModelInput
from models.config import ModelConfig
from models.embedding_table import EmbeddingTable
from models.registry import MODELS, build

INPUTS = (
    ModelInput(name="item", kind="id", table="item", vocabulary_size=20),
    ModelInput(
        name="device", kind="id", table="device", vocabulary_size=4, embedding_dim=3
    ),
    ModelInput(name="history", kind="ids", length=5, table="item", vocabulary_size=20),
    ModelInput(name="price.log-1", kind="number"),
    ModelInput(name="image", kind="vector", length=6),
    ModelInput(
        name="user",
        kind="id",
        table="user",
        vocabulary_size=2**63,
        hashes=2,
        buckets=50,
        embedding_dim="auto",
    ),
)


def batch(rows, seed=0):
    random = np.random.default_rng(seed)
    return {
        "item": tf.constant(random.integers(0, 20, rows)),
        "device": tf.constant(random.integers(0, 4, rows)),
        "history": tf.constant(random.integers(0, 20, (rows, 5))),
        "price.log-1": tf.constant(random.normal(size=rows), tf.float32),
        "image": tf.constant(random.normal(size=(rows, 6)), tf.float32),
        "user": tf.constant(random.integers(0, 2**63 - 1, rows)),
    }


def exported(model, path):
    """The model written as a SavedModel with one signature, and loaded again."""
    module = tf.Module()
    module.model = model
    specs = {
        key: tf.TensorSpec([None, *tensor.shape[1:]], tensor.dtype, name=key)
        for key, tensor in batch(1).items()
    }
    module.serve = tf.function(
        lambda features: {"logit": model(features)}, input_signature=[specs]
    )
    tf.saved_model.save(module, str(path), {"serving_default": module.serve})
    return tf.saved_model.load(str(path))


@pytest.fixture(autouse=True)
def _seeded():
    keras.utils.set_random_seed(0)


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_one_float_a_row_for_any_number_of_rows(name):
    model = build(ModelConfig(name=name), INPUTS)

    for rows in (1, 7):
        logits = model(batch(rows))
        assert logits.shape == (rows, 1)
        assert logits.dtype == tf.float32


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("one", INPUTS, ids=lambda one: one.name)
def test_each_kind_of_input_can_stand_alone(name, one):
    model = build(ModelConfig(name=name), (one,))

    assert model({one.name: batch(2)[one.name]}).shape == (2, 1)


@pytest.mark.parametrize("name", MODELS)
def test_an_untrained_network_predicts_about_the_base_rate(name):
    model = build(ModelConfig(name=name), INPUTS[:3], base_rate=0.03)

    features = {one.name: batch(500)[one.name] for one in INPUTS[:3]}
    mean = float(tf.reduce_mean(tf.sigmoid(model(features))))

    # Embeddings start with a standard deviation of 0.01, so logits hardly differ.
    assert mean == pytest.approx(0.03, rel=0.02)


@pytest.mark.parametrize("name", MODELS)
def test_every_input_reaches_the_logit(name):
    model = build(ModelConfig(name=name), INPUTS)
    for weight in model.weights:
        weight.assign(np.random.default_rng(1).normal(size=weight.shape) * 0.3)
    before = model(batch(30)).numpy()

    for one in INPUTS:
        changed = {**batch(30), one.name: batch(30, seed=5)[one.name]}
        assert not np.allclose(model(changed).numpy(), before), one.name


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_all_tables_are_sparse_and_all_weights_are_reached(name):
    config = ModelConfig(name=name, embedding_l2=0.1, linear_l2=0.1)
    model = build(config, INPUTS)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(batch(8), training=True)) + tf.add_n(model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)

    for weight, gradient in zip(model.trainable_variables, gradients, strict=True):
        assert gradient is not None, weight.path
        is_table = weight.path.endswith("/table")
        assert isinstance(gradient, tf.IndexedSlices) == is_table, weight.path


@pytest.mark.parametrize("name", ["deepfm", "dcn_v2"])
def test_inputs_of_one_table_share_one_embedding(name):
    model = build(ModelConfig(name=name), INPUTS)

    tables = [w.path for w in model.weights if "embedding_item" in w.path]

    assert len(tables) == 1


@pytest.mark.parametrize("name", MODELS)
def test_partitioned_tables_predict_as_whole_ones_before_and_after_export(
    name, tmp_path, monkeypatch
):
    monkeypatch.setattr("models.tables.PARTITION_BYTES", 0)
    whole = build(ModelConfig(name=name), INPUTS)
    parted = build(ModelConfig(name=name), INPUTS, table_partitions=3)
    for layer, source in zip(parted.layers, whole.layers, strict=True):
        values = source.get_weights()
        if isinstance(layer, EmbeddingTable):
            # Row r is in part r % 3; 3 * ceil(rows / 3) places in all.
            padded = np.pad(values[0], [(0, -len(values[0]) % 3), (0, 0)])
            values = [padded[part::3] for part in range(3)]
        layer.set_weights(values)

    loaded = exported(parted, tmp_path)

    expected = whole(batch(9)).numpy()
    for logits in (parted(batch(9)), loaded.serve(batch(9))["logit"]):
        np.testing.assert_allclose(logits, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_network_predicts_the_same(name, tmp_path):
    model = build(ModelConfig(name=name), INPUTS, base_rate=0.1)
    expected = model(batch(5)).numpy()

    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")

    np.testing.assert_array_equal(again(batch(5)).numpy(), expected)


@pytest.mark.parametrize("name", MODELS)
def test_a_network_can_be_served_from_a_plain_function(name, tmp_path):
    model = build(ModelConfig(name=name), INPUTS)

    loaded = exported(model, tmp_path)

    np.testing.assert_allclose(
        loaded.serve(batch(3))["logit"], model(batch(3)), rtol=1e-6
    )


def test_deepfm_without_dense_layers_is_a_factorization_machine():
    user = ModelInput(name="user", kind="id", table="user", vocabulary_size=4)
    inputs = (INPUTS[0], user)
    config = ModelConfig(name="deepfm", embedding_dim=3, hidden=())
    model = build(config, inputs)
    random = np.random.default_rng(2)
    values = {w.path: random.normal(size=w.shape) for w in model.weights}
    for weight in model.weights:
        weight.assign(values[weight.path])
    item, user = 7, 2

    logit = model({"item": tf.constant([item]), "user": tf.constant([user])})

    expected = (
        values["logit/bias"][0]
        + values["weight_item/table"][item, 0]
        + values["weight_user/table"][user, 0]
        + values["embedding_item/table"][item] @ values["embedding_user/table"][user]
    )
    assert float(logit[0, 0]) == pytest.approx(expected, rel=1e-5)


def test_logistic_regression_adds_weights_and_numbers():
    model = build(ModelConfig(name="logistic_regression"), INPUTS[2:4])
    weights = {w.path: w for w in model.weights}
    weights["weight_item/table"].assign(np.arange(20.0).reshape(20, 1))
    weights["weight_numbers/kernel"].assign([[10.0]])

    logit = model(
        {
            "history": tf.constant([[4, 9, 0, 0, 0]]),
            "price.log-1": tf.constant([0.3]),
        }
    )

    # Mean of the weights 4 and 9, and 10 * 0.3.
    assert float(logit[0, 0]) == pytest.approx(6.5 + 3.0)


@pytest.mark.parametrize("name", MODELS)
def test_half_precision_keeps_weights_and_logit_whole_and_is_close(name):
    config = ModelConfig(name=name, embedding_dim=8, hidden=(16,))
    models = []
    for precision in ("float32", "bfloat16"):
        keras.utils.set_random_seed(4)
        models.append(build(config, INPUTS, base_rate=0.02, precision=precision))
    assert keras.config.dtype_policy().name == "float32"

    logits = [model(batch(64), training=False) for model in models]

    assert logits[1].dtype == tf.float32
    assert {weight.dtype for weight in models[1].trainable_variables} == {"float32"}
    # bfloat16 keeps eight bits; the products here are all below 1.
    np.testing.assert_allclose(logits[0], logits[1], atol=0.02)
    kinds = {layer.compute_dtype for layer in models[1].layers if layer.weights}
    assert kinds == (
        {"float32"} if name == "logistic_regression" else {"float32", "bfloat16"}
    )

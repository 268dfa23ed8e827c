import keras
import numpy as np
import pytest
import tensorflow as tf

from components.config import TrainConfig
from components.strategy import make_strategy
from components.training_loop import evaluate_loss, train
from data.errors import RunError
from data.inputs import ModelInput
from models.config import ModelConfig
from models.registry import build

INPUTS = (
    ModelInput(name="item", kind="id", table="item", vocabulary_size=50),
    ModelInput(name="history", kind="ids", length=4, table="item", vocabulary_size=50),
    ModelInput(name="price", kind="number"),
)
ROWS = 1003


def rows(seed=0):
    random = np.random.default_rng(seed)
    features = {
        "item": random.integers(1, 50, ROWS),
        "history": random.integers(0, 50, (ROWS, 4)),
        "price": random.normal(size=ROWS).astype(np.float32),
    }
    logit = features["price"] + (features["item"] % 2) * 2 - 1
    label = random.random(ROWS) < 1 / (1 + np.exp(-logit))
    weight = random.integers(0, 3, ROWS)
    return features, label.astype(np.float32), weight.astype(np.float32)


def batches(data=None, size=100):
    whole = tf.data.Dataset.from_tensor_slices(data or rows())
    return lambda epoch: whole.shuffle(ROWS, seed=epoch).batch(size)


def network(strategy, **settings):
    keras.utils.set_random_seed(1)
    config = ModelConfig(**{"name": "deepfm", "embedding_dim": 4, **settings})
    with strategy.scope():
        return build(config, INPUTS)


def trained(strategy=None, data=None, size=100, settings=None, **config):
    strategy = strategy or make_strategy("default")
    model = network(strategy, **(settings or {}))
    result = train(
        model,
        batches(data, size),
        config=TrainConfig(**{"learning_rate": 0.01, **config}),
        strategy=strategy,
    )
    return model, result


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
def test_training_lowers_the_loss_and_counts_what_it_did(optimizer):
    model, result = trained(optimizer=optimizer, epochs=4, learning_rate=0.05)

    assert result.examples == 4 * ROWS
    assert result.steps == 4 * 11  # ten batches of 100 and one of 3
    assert 0 <= result.input_wait_share < 1
    fresh = network(make_strategy("default"))
    data = batches()(0)
    assert evaluate_loss(model, data) < evaluate_loss(fresh, data) - 0.02


def test_odd_last_batches_do_not_trace_the_step_again():
    _, result = trained(epochs=3)

    assert result.traces == 1


def test_same_seed_gives_the_same_weights():
    (first, _), (second, _) = trained(epochs=2), trained(epochs=2)

    for one, other in zip(first.weights, second.weights, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_a_step_minimises_the_weighted_mean_loss_and_the_penalty():
    features, label, weight = rows()
    settings = {"embedding_l2": 0.1, "linear_l2": 0.2}
    strategy = make_strategy("default")
    model = network(strategy, **settings)
    variables = model.trainable_variables
    with tf.GradientTape() as tape:
        logits = model(features, training=True)[:, 0]
        losses = tf.nn.sigmoid_cross_entropy_with_logits(label, logits)
        loss = tf.reduce_sum(losses * weight) / weight.sum() + sum(model.losses)
    expected = [
        start.numpy() - 0.5 * tf.convert_to_tensor(gradient).numpy()
        for start, gradient in zip(
            variables, tape.gradient(loss, variables), strict=True
        )
    ]

    stepped, result = trained(
        optimizer="sgd", learning_rate=0.5, size=ROWS, settings=settings
    )

    assert result.steps == 1
    for one, wanted in zip(stepped.trainable_variables, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), wanted, atol=1e-6)


def test_rows_of_weight_zero_change_nothing():
    features, label, weight = rows()
    kept = weight > 0
    few = ({k: v[kept] for k, v in features.items()}, label[kept], weight[kept])
    flipped = (features, np.where(kept, label, 1 - label), weight)

    models = [
        trained(data=data, size=ROWS, optimizer="sgd")[0]
        for data in [few, (features, label, weight), flipped]
    ]

    for one, *others in zip(*(model.weights for model in models), strict=True):
        for other in others:
            np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-6)


def test_a_non_finite_input_is_named_with_its_step():
    features, label, weight = rows()
    features["price"][ROWS // 2] = np.nan

    with pytest.raises(RunError, match=r"loss is nan at step \d+ of epoch 1.*price"):
        trained(data=(features, label, weight))


def test_the_step_of_a_non_finite_input_is_exact():
    features, label, weight = rows()
    weight[:] = 1
    features["price"][734] = np.inf
    data = tf.data.Dataset.from_tensor_slices((features, label, weight)).batch(100)
    strategy = make_strategy("default")

    # Row 734 is in the eighth batch of 100.
    with pytest.raises(RunError, match="at step 8 of epoch 1"):
        train(
            network(strategy), lambda _: data, config=TrainConfig(), strategy=strategy
        )


def test_diverging_weights_are_named_when_inputs_are_finite():
    strategy = make_strategy("default")
    model = network(strategy)
    table = next(w for w in model.weights if "embedding_item" in w.path)
    table.assign(np.full(table.shape, 1e30))

    with pytest.raises(RunError, match=r"embedding_item.*Lower train.learning_rate"):
        train(model, batches(), config=TrainConfig(), strategy=strategy)


def test_no_rows_is_an_error():
    strategy = make_strategy("default")

    with pytest.raises(RunError, match="no rows in the train split"):
        train(
            network(strategy),
            lambda epoch: batches()(epoch).take(0),
            config=TrainConfig(),
            strategy=strategy,
        )


def test_progress_covers_every_row_and_states_rates():
    seen = []
    strategy = make_strategy("default")
    train(
        network(strategy),
        batches(size=10),
        config=TrainConfig(epochs=2),
        strategy=strategy,
        on_progress=seen.append,
    )

    # 101 batches an epoch, a report every 50 and at the end of the epoch.
    assert [one.step for one in seen] == [50, 100, 101, 151, 201, 202]
    assert [one.epoch for one in seen] == [1, 1, 1, 2, 2, 2]
    assert seen[-1].examples == 2 * ROWS
    assert all(one.examples_per_second > 0 for one in seen)
    assert all(0 <= one.input_wait_share <= 1 for one in seen)
    assert all(one.gradient_norm > 0 for one in seen)


def test_tensorboard_and_checkpoint_are_written(tmp_path):
    strategy = make_strategy("default")
    model = network(strategy)
    result = train(
        model,
        batches(),
        config=TrainConfig(epochs=2),
        strategy=strategy,
        eval_data=batches(rows(seed=9))(0),
        log_dir=str(tmp_path / "log"),
        checkpoint_dir=str(tmp_path / "checkpoints"),
    )

    assert len(result.eval_losses) == 2
    (events,) = (tmp_path / "log").iterdir()
    tags = {
        value.tag
        for event in tf.compat.v1.train.summary_iterator(str(events))
        for value in event.summary.value
    }
    assert tags == {
        "train/eval_loss",
        "train/examples_per_second",
        "train/gradient_norm",
        "train/input_wait_share",
        "train/learning_rate",
        "train/loss",
        "train/step_seconds",
    }
    again = network(strategy)
    latest = tf.train.latest_checkpoint(str(tmp_path / "checkpoints"))
    assert latest.endswith("-2")
    tf.train.Checkpoint(model=again).restore(latest).expect_partial()
    for one, other in zip(again.weights, model.weights, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_learning_rate_decays_after_each_epoch():
    seen = []
    strategy = make_strategy("default")
    train(
        network(strategy),
        batches(),
        config=TrainConfig(epochs=3, learning_rate=0.08, learning_rate_decay=0.5),
        strategy=strategy,
        on_progress=seen.append,
    )

    assert [p.learning_rate for p in seen] == pytest.approx([0.08, 0.04, 0.02])


def test_evaluated_loss_is_the_weighted_mean():
    strategy = make_strategy("default")
    model = network(strategy)
    features, label, weight = rows()
    p = 1 / (1 + np.exp(-model(features).numpy()[:, 0].astype(np.float64)))
    losses = -(label * np.log(p) + (1 - label) * np.log(1 - p))

    loss = evaluate_loss(model, batches()(0))

    assert loss == pytest.approx((losses * weight).sum() / weight.sum(), rel=1e-5)

import itertools

import keras
import numpy as np
import psutil
import pytest
import tensorflow as tf

from components.config import TrainConfig, ValidationConfig
from components.early_stopping import Best, EarlyStopping
from components.strategy import make_strategy
from components.training_log import Progress, thinned
from components.training_loop import train
from components.training_step import TrainingStep
from components.validation import Validation, ValidationScores
from components.worker_batches import by_rows
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


def training_batches(data=None, size=100):
    return by_rows(batches(data, size))


def network(strategy, **settings):
    keras.utils.set_random_seed(1)
    config = ModelConfig(**{"name": "deepfm", "embedding_dim": 4, **settings})
    with strategy.scope():
        return build(config, INPUTS)


def evaluate_loss(model, data):
    return Validation(model, data, capacity=4096).measure(1, 0.0).log_loss


def with_users(seed=9):
    """Rows with the user's hash behind them; a tenth has no user."""
    user = np.random.default_rng(seed).integers(0, 60, ROWS)
    return (*rows(seed), np.where(user < 6, -1, user))


def trained(strategy=None, data=None, size=100, settings=None, **config):
    strategy = strategy or make_strategy("default")
    model = network(strategy, **(settings or {}))
    result = train(
        model,
        training_batches(data, size),
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
            network(strategy),
            by_rows(lambda _: data),
            config=TrainConfig(),
            strategy=strategy,
        )


def test_diverging_weights_are_named_when_inputs_are_finite():
    strategy = make_strategy("default")
    model = network(strategy)
    table = next(w for w in model.weights if "embedding_item" in w.path)
    table.assign(np.full(table.shape, 1e30))

    with pytest.raises(RunError, match=r"embedding_item.*Lower train.learning_rate"):
        train(model, training_batches(), config=TrainConfig(), strategy=strategy)


def test_no_rows_is_an_error():
    strategy = make_strategy("default")

    with pytest.raises(RunError, match="no rows in the train split"):
        train(
            network(strategy),
            by_rows(lambda epoch: batches()(epoch).take(0)),
            config=TrainConfig(),
            strategy=strategy,
        )


def test_progress_covers_every_row_and_states_rates():
    seen = []
    strategy = make_strategy("default")
    train(
        network(strategy),
        training_batches(size=10),
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
        training_batches(),
        config=TrainConfig(epochs=2),
        strategy=strategy,
        validation_data=batches(with_users())(0),
        log_dir=str(tmp_path / "log"),
        checkpoint_dir=str(tmp_path / "checkpoints"),
    )

    assert len(result.validation) == 2
    (events,) = (tmp_path / "log").iterdir()
    tags = {
        value.tag
        for event in tf.compat.v1.train.summary_iterator(str(events))
        for value in event.summary.value
    }
    assert tags == {
        "train/examples_per_second",
        "train/gradient_norm",
        "train/input_wait_share",
        "train/learning_rate",
        "train/loss",
        "train/step_seconds",
        "validation/gauc",
        "validation/log_loss",
        "validation/pcop",
    }
    assert tf.train.latest_checkpoint(tmp_path / "checkpoints").endswith("-22")


def test_learning_rate_decays_after_each_epoch():
    seen = []
    strategy = make_strategy("default")
    train(
        network(strategy),
        training_batches(),
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


def test_validation_is_the_metrics_by_definition():
    model = network(make_strategy("default"))
    features, label, weight, user = with_users()
    logit = model(features).numpy()[:, 0]
    p = 1 / (1 + np.exp(-logit.astype(np.float64)))
    losses = -(label * np.log(p) + (1 - label) * np.log(1 - p))
    total = mass = 0.0
    for one in range(6, 60):
        own = (user == one) & (weight > 0)
        y, s, w = label[own], logit[own], weight[own]
        if len(set(y)) == 2:
            pair = w[y == 1][:, None] * w[y == 0]
            better = s[y == 1][:, None] - s[y == 0]
            auc = (pair * ((better > 0) + 0.5 * (better == 0))).sum() / pair.sum()
            total += w.sum() * auc
            mass += w.sum()

    data = batches(with_users())(0)
    validation = Validation(model, data, capacity=4096, user_weight="weight")
    for _ in range(2):  # the second time starts from nothing again
        scores = validation.measure(epoch=3, loss=0.5)
        assert (scores.epoch, scores.loss, scores.gauc_exact) == (3, 0.5, True)
        assert scores.log_loss == pytest.approx((losses * weight).sum() / weight.sum())
        assert scores.pcop == pytest.approx((p * weight).sum() / (label @ weight))
        assert scores.gauc == pytest.approx(total / mass, abs=1e-9)


def test_without_users_clicks_or_weight_there_is_no_value():
    model = network(make_strategy("default"))
    features, label, weight = rows()

    def measured(*data):
        return Validation(model, batches(data)(0), capacity=4096).measure(1, 0.0)

    scores = measured(features, 0 * label, weight, np.arange(ROWS))
    assert (scores.gauc, scores.pcop, scores.gauc_exact) == (None, None, True)
    assert scores.log_loss > 0
    scores = measured(features, label, 0 * weight)
    assert (scores.log_loss, scores.gauc, scores.gauc_exact) == (None, None, None)


def test_validation_that_is_not_finite_is_an_error():
    model = network(make_strategy("default"))
    features, label, weight = rows()
    features["price"][5], weight[5] = np.nan, 1
    with pytest.raises(RunError, match="validation rows is nan after epoch 2"):
        Validation(model, batches((features, label, weight))(0), 4096).measure(2, 0.0)


def test_each_epoch_is_told_with_its_losses():
    seen = []
    strategy = make_strategy("default")
    result = train(
        network(strategy),
        training_batches(),
        config=TrainConfig(epochs=3, learning_rate=0.01),
        strategy=strategy,
        validation_data=batches(with_users())(0),
        on_progress=seen.append,
    )

    told = [one.validation for one in seen if one.validation is not None]
    assert tuple(told) == result.validation
    assert [one.epoch for one in told] == [1, 2, 3]
    assert tuple(one.loss for one in told) == result.epoch_losses
    # Eleven steps an epoch, so each epoch is one report.
    losses = [one.loss for one in seen if one.validation is None]
    assert list(result.epoch_losses) == pytest.approx(losses)
    assert [point["step"] for point in result.points] == [11, 22, 33]
    assert (result.best_epoch, result.stopped_early, result.notice) == (
        None,
        False,
        None,
    )
    content = result.to_json()
    assert content["validation"][2]["gauc"] == told[2].gauc
    assert content["points"][0]["loss"] == losses[0]


@pytest.mark.parametrize("monitor", ["log_loss", "gauc"])
def test_early_stopping_goes_back_to_the_best_epoch(monitor):
    features, label, weight, user = with_users(seed=0)
    # What is learned from the training rows is wrong here, so each epoch is worse.
    against = batches((features, 1 - label, weight, user))(0)
    strategy = make_strategy("default")
    model = network(strategy)
    config = {"learning_rate": 0.02, "optimizer": "adagrad"}
    result = train(
        model,
        training_batches(),
        config=TrainConfig(epochs=5, validation={"monitor": monitor}, **config),
        strategy=strategy,
        validation_data=against,
    )

    after_one, _ = trained(epochs=1, **config)
    assert (result.best_epoch, result.epochs, result.stopped_early) == (1, 2, True)
    assert len(result.epoch_losses) == len(result.validation) == 2
    for one, other in zip(model.weights, after_one.weights, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def watched(values, exact=True, interval=None, **settings):
    """The epoch after which a training would stop (None: never), and the best one."""
    settings = {"monitor": "gauc", "min_delta": 0.01, **settings}
    best = Best()
    stopping = EarlyStopping(ValidationConfig(**settings), best)
    for epoch, value in enumerate(values, start=1):
        scores = ValidationScores(
            epoch=epoch,
            loss=0.0,
            log_loss=value,
            gauc=value,
            pcop=None,
            gauc_exact=exact,
            gauc_interval=interval,
        )
        if stopping.should_stop(scores):
            return epoch, best
    return None, best


@pytest.mark.parametrize(
    ("values", "settings", "stop", "best"),
    [
        ([0.6, 0.7, 0.69, 0.8], {}, 3, 2),
        ([0.6, 0.7, 0.69, 0.8], {"patience": 2}, None, 4),
        ([0.6, 0.7, 0.69, 0.68, 0.8], {"patience": 2}, 4, 2),
        # Better, but by less than min_delta: the best epoch still, and no reprieve.
        ([0.6, 0.604, 0.7], {}, 2, 2),
        # Small steps add up to min_delta.
        ([0.6, 0.606, 0.612, 0.618], {"patience": 2}, None, 4),
        ([0.5, 0.4, 0.45], {"monitor": "log_loss"}, 3, 2),
        ([0.6, 0.5], {"monitor": None}, None, None),
    ],
)
def test_patience_counts_epochs_without_improvement(values, settings, stop, best):
    stopped, found = watched(values, **settings)

    assert (stopped, found.epoch) == (stop, best)


def test_gauc_of_a_sample_is_trusted_only_within_min_delta():
    narrow, wide = (0.695, 0.705), (0.65, 0.75)

    stopped, best = watched([0.7, 0.6], exact=False, interval=narrow)
    assert (stopped, best.epoch, best.notice) == (2, 1, None)

    for interval in (wide, None):
        stopped, best = watched([0.7, 0.6], exact=False, interval=interval)
        assert (stopped, best.epoch) == (None, None)
        assert "epoch 1 was not judged: GAUC is from a sample" in best.notice
    stopped, best = watched([0.6, 0.7], exact=False, interval=wide, monitor="log_loss")
    assert (stopped, best.notice) == (2, None)


def test_an_epoch_without_a_value_is_not_judged():
    stopped, best = watched([0.7, None, 0.6])

    assert (stopped, best.epoch) == (3, 1)
    assert "epoch 2 was not judged: gauc has no value" in best.notice


def test_points_of_a_long_training_are_thinned_to_what_a_chart_needs():
    reports = [
        Progress(1, 1, step, step, 0.5, 1.0, 1.0, 0.0, 1.0, 0.1)
        for step in range(50, 50 * 1004, 50)
    ]
    points = thinned(reports)

    assert 150 <= len(points) <= 200
    assert points[-1]["step"] == 50 * 1003
    steps = [point["step"] for point in points]
    gaps = {after - before for before, after in itertools.pairwise(steps)}
    assert gaps == {300}  # 1003 reports, every sixth
    assert thinned([]) == ()


def test_a_long_gradient_is_scaled_to_the_longest_allowed():
    strategy = make_strategy("default")
    models, results, seen = [], [], []
    for clip in (None, 0.01):
        model = network(strategy)
        start = [weight.numpy() for weight in model.trainable_variables]
        results.append(
            train(
                model,
                training_batches(size=ROWS),
                config=TrainConfig(optimizer="sgd", learning_rate=1, clip_norm=clip),
                strategy=strategy,
                on_progress=seen.append,
            )
        )
        after = [weight.numpy() for weight in model.trainable_variables]
        models.append([one - other for one, other in zip(after, start, strict=True)])

    norms = [
        np.sqrt(sum(np.square(one, dtype=np.float64).sum() for one in moved))
        for moved in models
    ]
    assert norms[0] > 0.02  # or nothing is shown
    assert norms[1] == pytest.approx(0.01, rel=1e-4)
    # The same direction, and the reported norm is the one before clipping.
    for free, clipped in zip(*models, strict=True):
        np.testing.assert_allclose(free * (0.01 / norms[0]), clipped, atol=1e-6)
    assert [one.gradient_norm for one in seen] == pytest.approx(
        [norms[0]] * 2, rel=1e-4
    )


def test_the_rate_warms_up_from_step_to_step():
    seen = []
    strategy = make_strategy("default")
    train(
        network(strategy),
        training_batches(size=ROWS),
        config=TrainConfig(epochs=4, learning_rate=0.6, warmup_steps=3),
        strategy=strategy,
        on_progress=seen.append,
    )

    assert [one.learning_rate for one in seen] == pytest.approx([0.2, 0.4, 0.6, 0.6])


@pytest.mark.parametrize(("waited", "warns"), [(1.0, True), (0.1, False)])
def test_waiting_for_input_is_said_with_remedies(monkeypatch, caplog, waited, warns):
    """Eleven steps: eleven seconds are worth a warning, one second is not."""
    take = TrainingStep.take
    monkeypatch.setattr(
        TrainingStep, "take", lambda *one: (take(*one)[0], waited), raising=True
    )
    trained()

    warnings = [one.message for one in caplog.records if one.levelname == "WARNING"]
    assert len(warnings) == warns
    if warns:
        assert "of epoch 1 was spent waiting for input" in warnings[0]
        assert "train.staging" in warnings[0]


def test_the_profiler_records_the_chosen_steps(tmp_path):
    strategy = make_strategy("default")
    train(
        network(strategy),
        training_batches(),
        config=TrainConfig(profile_steps=(3, 5)),
        strategy=strategy,
        log_dir=str(tmp_path),
    )

    assert len(list(tmp_path.rglob("*.xplane.pb"))) == 1


@pytest.mark.slow
def test_two_thousand_steps_trace_once_and_keep_their_memory():
    peaks = []

    def watch(progress):
        if progress.step in (600, 2000):
            peaks.append(psutil.Process().memory_info().rss)

    strategy = make_strategy("default")
    # 1003 rows in batches of 10: an odd last batch in each of twenty epochs.
    result = train(
        network(strategy),
        training_batches(size=10),
        config=TrainConfig(epochs=20, checkpoint_steps=100),
        strategy=strategy,
        on_progress=watch,
    )

    assert (result.steps, result.traces) == (20 * 101, 1)
    assert peaks[1] - peaks[0] < 20 * 2**20

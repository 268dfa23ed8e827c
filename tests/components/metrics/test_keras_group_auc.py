"""GAUC as a Keras metric, against a loop over users and pairs."""

import math
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from components.metrics.columns import check_columns
from components.metrics.intervals import t_interval
from components.metrics.keras_group_auc import GroupAUC
from components.metrics.slice_metrics import evaluate_rows
from components.metrics.user_sample import hash_ids
from data.errors import ConfigError


def rows(count=2000, users=150, seed=0):
    """Labels, scores with ties, weights with zeros, and user ids."""
    random = np.random.default_rng(seed)
    return (
        (random.random(count) < 0.3).astype(np.int64),
        random.integers(0, 40, count) / np.float32(40),
        random.choice(np.float32([0, 0.25, 1, 3.5]), count),
        (random.pareto(1.0, count) * 20).astype(np.int64) % users,
    )


def slow_users(label, score, weight, user, user_weight="impressions"):
    """AUC and mass of each user with both classes, by all pairs."""
    found = {}
    label, score, user = (column[weight > 0] for column in (label, score, user))
    weight = weight[weight > 0].astype(np.float64)
    for one in np.unique(user[user >= 0]):
        own = user == one
        w = np.ones(own.sum()) if user_weight == "impressions" else weight[own]
        y, s = label[own], score[own]
        if y.min() == y.max():
            continue
        better = s[y == 1][:, None] - s[y == 0]
        pair = w[y == 1][:, None] * w[y == 0]
        auc = (pair * ((better > 0) + 0.5 * (better == 0))).sum() / pair.sum()
        mass = {
            "impressions": own.sum(),
            "clicks": w[y == 1].sum(),
            "users": 1,
            "weight": w.sum(),
        }[user_weight]
        found[int(one)] = (auc, float(mass))
    return found


def mean_of(users):
    auc, mass = np.array(list(users.values())).T
    return float((auc * mass).sum() / mass.sum())


def fed(data, order=None, size=300, **settings):
    """A metric that saw the rows in some order and batches."""
    metric = GroupAUC(**settings)
    order = np.arange(len(data[0])) if order is None else order
    for start in range(0, len(order), size):
        label, score, weight, user = (c[order[start : start + size]] for c in data)
        metric.update_state(label, score, weight, user_ids=user)
    return metric


@pytest.mark.parametrize("user_weight", ["impressions", "clicks", "users", "weight"])
def test_equals_a_loop_over_users_and_pairs(user_weight):
    data = rows()

    state = fed(data, user_weight=user_weight, dtype="float64").state()

    expected = slow_users(*data, user_weight)
    assert state.value == pytest.approx(mean_of(expected), abs=1e-12)
    assert state.users_scored == len(expected)
    assert (state.exact, state.sampled_share, state.interval) == (True, 1.0, None)


@pytest.mark.parametrize("user_weight", ["impressions", "clicks", "users", "weight"])
def test_equals_what_evaluation_computes(user_weight):
    label, score, weight, user = rows(seed=4)
    columns, _ = check_columns(user, label, score, weight)

    metric = fed((label, score, weight, user), user_weight=user_weight, dtype="float64")

    expected = evaluate_rows(columns, user_weight).metrics["gauc"].value
    assert float(metric.result()) == pytest.approx(expected, abs=1e-9)


def test_result_is_the_value_of_the_state_in_the_metrics_dtype():
    metric = fed(rows())

    assert metric.result().dtype == tf.float32
    assert float(metric.result()) == np.float32(metric.state().value)


@pytest.mark.parametrize("clicks", [[0, 0, 0], [1, 1, 1], []])
def test_without_a_user_with_both_classes_there_is_no_value(clicks):
    metric = GroupAUC()
    metric.update_state(
        np.array(clicks), np.zeros(len(clicks)), None, np.arange(len(clicks))
    )

    assert math.isnan(metric.result())
    assert math.isnan(metric.state().value)


def test_a_score_that_is_not_finite_makes_the_result_undefined():
    metric = GroupAUC()
    ids = np.zeros(3, np.int64)
    metric.update_state([1, 0, 0], [0.5, 0.2, np.nan], [1, 1, 0], user_ids=ids)
    assert float(metric.result()) == 1.0  # that row weighs nothing

    metric.update_state([1], [np.nan], user_ids=ids[:1])
    assert math.isnan(metric.result())
    assert math.isnan(metric.state().value)


def test_rows_without_a_user_take_no_part_and_are_counted():
    label, score, weight, user = rows()
    user = np.where(np.arange(len(user)) % 5 == 0, -1, user)

    state = fed((label, score, weight, user)).state()

    assert state.value == pytest.approx(mean_of(slow_users(label, score, weight, user)))
    assert state.rows_without_user == ((user < 0) & (weight > 0)).sum()


def test_float64_keeps_scores_apart_that_float32_ties():
    label, score = [0, 1], np.array([0.5, 0.5 + 1e-12])
    for dtype, expected in [("float32", 0.5), ("float64", 1.0)]:
        metric = GroupAUC(dtype=dtype)
        metric.update_state(label, score, user_ids=[7, 7])
        assert float(metric.result()) == expected


def test_label_and_user_may_come_as_two_columns():
    label, score, weight, user = rows()
    metric = GroupAUC()
    metric.update_state(np.stack([label, user], 1), score[:, None], weight[:, None])

    assert metric.state() == fed((label, score, weight, user)).state()


def test_hash_is_the_finaliser_of_splitmix64():
    def mixed(value):
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) % 2**64
        return value ^ (value >> 31)

    ids = np.array([0, 1, 2, 12345, 2**62 + 1, 2**63 - 1])
    expected = [mixed(int(one)) for one in ids]
    assert [int(one) % 2**64 for one in hash_ids(ids).numpy()] == expected


def sampled_by_definition(data, capacity):
    """The sample from the whole set: (level, users kept, large users below the level)."""
    user = data[3][data[2] > 0]
    ids, counts = np.unique(user, return_counts=True)
    place = (hash_ids(ids).numpy().astype(object) + 2**63) / 2**64
    part = capacity // 16
    for level in range(65):
        below = place < 0.5**level
        if np.minimum(counts, part)[below].sum() <= capacity:
            large = below & (counts > part)
            return level, set(ids[below & ~large]), int(large.sum())
    raise AssertionError


def with_giants(seed=0):
    """2,000 rows of many users and 1,200 rows each of two users, in one heap."""
    data = rows(users=700, seed=seed)
    giants = rows(2400, seed=seed + 1)
    ids = np.repeat([10_001, 10_002], 1200)
    return tuple(
        np.concatenate([one, other])
        for one, other in zip(data, (*giants[:3], ids), strict=True)
    )


@pytest.mark.parametrize("user_weight", ["impressions", "weight"])
def test_sample_depends_on_the_set_of_rows_alone(user_weight):
    data, capacity = with_giants(), 400
    level, kept, large = sampled_by_definition(data, capacity)
    users = slow_users(*data, user_weight)
    expected = mean_of({one: value for one, value in users.items() if one in kept})
    assert level >= 1

    states = set()
    for seed, size in enumerate([299, 150, 300, 1111, 10_000]):
        order = np.random.default_rng(seed).permutation(len(data[0]))
        if size == 299:  # a large user first
            order = np.argsort(data[3] != 10_001, kind="stable")
        states.add(
            fed(data, order, size, capacity=capacity, user_weight=user_weight).state()
        )

    (state,) = states
    assert state.value == pytest.approx(expected, abs=1e-12)
    assert (state.exact, state.sampled_share) == (False, 0.5**level)
    assert state.excluded_users == large
    assert state.users_scored == len(kept & set(users))


def test_interval_is_that_of_a_sample_of_users():
    data = rows(20_000, users=3000)
    state = fed(data, size=1000, capacity=4000).state()
    _, kept, _ = sampled_by_definition(data, 4000)
    users = {u: v for u, v in slow_users(*data).items() if u in kept}
    total = sum(mass for _, mass in users.values())
    errors = [m * (auc - state.value) / total for auc, m in users.values()]
    squares, fourths = sum(e**2 for e in errors), sum(e**4 for e in errors)
    effective = squares**2 / fourths
    variance = squares * effective / (effective - 1) * (1 - state.sampled_share)

    assert state.sampled_share < 1
    assert state.interval == pytest.approx(
        t_interval(state.value, math.sqrt(variance), effective)
    )


def test_most_samples_are_within_their_interval():
    inside = []
    for seed in range(30):
        data = rows(6000, seed=seed)[:3]
        # Other users each time, so another sample.
        user = np.random.default_rng(seed).integers(0, 600, 6000) + 1000 * seed
        data = (*data, user)
        low, high = fed(data, size=6000, capacity=1500).state().interval
        inside.append(low <= mean_of(slow_users(*data)) <= high)
    # At 95 % the chance of fewer than 24 of 30 is below one in a thousand.
    assert sum(inside) >= 24


def test_a_user_larger_than_the_table_is_left_out_and_counted():
    label, score, weight, user = rows(3000, users=1)
    few = rows(100, users=30, seed=1)
    user = user + 999
    data = tuple(
        np.concatenate(pair)
        for pair in zip((label, score, weight, user), few, strict=True)
    )
    for order in [np.arange(3100), np.arange(3100)[::-1]]:
        state = fed(data, order, size=64, capacity=256).state()
        # The 100 other rows and the part of the table that stands for the large user
        # fit, so all other users are scored.
        assert (state.exact, state.sampled_share, state.excluded_users) == (False, 1, 1)
        assert state.value == pytest.approx(mean_of(slow_users(*few)))
        assert state.interval == (state.value, state.value)


def test_a_large_user_counts_while_all_rows_fit():
    data = rows(250, users=2)
    state = fed(data, capacity=256).state()

    assert state.exact
    assert state.excluded_users == 0
    assert state.value == pytest.approx(mean_of(slow_users(*data)))


def test_one_user_that_fills_the_table_alone_leaves_no_value():
    state = fed(rows(3000, users=1), capacity=256).state()

    assert math.isnan(state.value)
    assert state.excluded_users == 1
    assert state.interval is None


def test_reset_forgets_everything():
    metric = fed(with_giants(), capacity=400)
    assert not metric.state().exact
    metric.reset_state()
    assert math.isnan(metric.result())
    assert (metric.state().exact, metric.state().excluded_users) == (True, 0)

    data = rows(300)
    label, score, weight, user = data
    metric.update_state(label, score, weight, user_ids=user)
    assert metric.state() == fed(data, capacity=400).state()


def test_odd_batches_share_one_trace_in_a_graph():
    metric, traces = GroupAUC(capacity=400), []

    @tf.function(reduce_retracing=True)
    def update(label, score, weight, user):
        traces.append(1)
        metric.update_state(label, score, weight, user_ids=user)

    data = with_giants()
    batches = tf.data.Dataset.from_tensor_slices(data).batch(333)
    for batch in batches:
        update(*batch)

    assert len(traces) <= 2  # 333 rows, then any number
    assert metric.state() == fed(data, capacity=400).state()
    assert float(tf.function(metric.result)()) == float(metric.result())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"capacity": 15}, "capacity must be >= 16 rows, got 15"),
        (
            {"user_weight": "click"},
            "unknown user_weight 'click'.*Did you mean 'clicks'",
        ),
    ],
)
def test_faulty_settings_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        GroupAUC(**settings)


@keras.saving.register_keras_serializable(package="test_keras_group_auc")
def click_loss(y_true, y_pred):
    return keras.losses.binary_crossentropy(y_true[:, :1], y_pred)


def test_a_compiled_model_trains_and_is_loaded_with_it(tmp_path):
    label, score, _, user = rows(600)
    y = np.stack([label, user], axis=1)
    model = keras.Sequential(
        [keras.Input([1]), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile(
        "sgd",
        click_loss,
        metrics=[GroupAUC(capacity=1024, user_weight="users", name="by_user")],
        jit_compile=False,
    )
    model.fit(score[:, None], y, batch_size=128, verbose=0)
    found = model.evaluate(score[:, None], y, verbose=0, return_dict=True)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    again = loaded.evaluate(score[:, None], y, verbose=0, return_dict=True)

    direction = np.sign(model.get_weights()[0][0, 0])
    ones = np.ones(600, np.float32)
    expected = mean_of(slow_users(label, direction * score, ones, user, "users"))
    assert found["by_user"] == pytest.approx(expected, abs=1e-6)
    assert again["by_user"] == found["by_user"]


def test_settings_survive_serialisation():
    metric = GroupAUC(capacity=99, user_weight="clicks", name="x", dtype="float64")
    again = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(metric)
    )
    assert again.get_config() == metric.get_config()
    assert (again.capacity, again.user_weight, again.dtype) == (99, "clicks", "float64")


TWO_REPLICAS = """
import numpy as np
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from components.metrics.keras_group_auc import GroupAUC
from components.metrics.keras_pcop import PCOP
from components.strategy import make_strategy

random = np.random.default_rng(0)
data = (
    random.integers(0, 2, 1003), random.random(1003).astype(np.float32),
    random.integers(0, 3, 1003).astype(np.float32), random.integers(0, 90, 1003),
)
strategy = make_strategy("mirrored", devices=("CPU:0", "CPU:1"))
assert strategy.num_replicas_in_sync == 2
for capacity in (300, 2000):
    one, pcop = GroupAUC(capacity), PCOP(dtype="float64")
    one.update_state(*data[:3], user_ids=data[3])
    pcop.update_state(*data[:3])
    with strategy.scope():
        two, pcop_of_two = GroupAUC(capacity), PCOP(dtype="float64")

    @tf.function(reduce_retracing=True)
    def step(label, score, weight, user):
        two.update_state(label, score, weight, user_ids=user)
        pcop_of_two.update_state(label, score, weight)
        return two.result()

    batches = tf.data.Dataset.from_tensor_slices(data).batch(99)
    for batch in strategy.experimental_distribute_dataset(batches):
        results = strategy.run(step, batch)
    assert two.state() == one.state(), (two.state(), one.state())
    assert one.state().exact == (capacity == 2000)
    for result in strategy.experimental_local_results(results):
        assert float(result) == float(one.result())
    np.testing.assert_allclose(float(pcop_of_two.result()), float(pcop.result()), rtol=1e-12)
    # Outside of the replicas, and after a reset, it counts each row once too.
    two.reset_state()
    pcop_of_two.reset_state()
    assert np.isnan(two.state().value) and np.isnan(float(pcop_of_two.result()))
    two.update_state(*data[:3], user_ids=data[3])
    assert two.state() == one.state()
"""


@pytest.mark.slow
def test_two_replicas_give_the_result_of_one_device():
    done = subprocess.run(
        [sys.executable, "-c", TWO_REPLICAS],
        check=False,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]

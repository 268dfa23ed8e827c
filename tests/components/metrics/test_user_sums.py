"""GAUC and per-user sums against hand arithmetic and a loop over users."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from components.metrics.accumulator import SliceAccumulator
from components.metrics.columns import check_columns, encode_users
from components.metrics.names import USER_WEIGHTS
from components.metrics.user_sums import user_sums


def gauc(users, labels, scores, weights=None, user_weight="impressions"):
    accumulator = SliceAccumulator(user_weight)
    columns, _ = check_columns(encode_users(users), labels, scores, weights)
    accumulator.add(columns)
    return accumulator.result().metrics["gauc"].value


def loop_gauc(users, labels, scores, weights, user_weight):
    """GAUC by scikit-learn, one user after the other."""
    total = mass = 0.0
    users, labels = np.asarray(users), np.asarray(labels)
    for user in np.unique(users):
        mine = (users == user) & (weights > 0)
        if not 0 < labels[mine].sum() < mine.sum():
            continue
        pair_weights = None if user_weight == "impressions" else weights[mine]
        auc = roc_auc_score(labels[mine], scores[mine], sample_weight=pair_weights)
        m = {
            "impressions": mine.sum(),
            "clicks": (weights * labels)[mine].sum(),
            "users": 1.0,
            "weight": weights[mine].sum(),
        }[user_weight]
        total, mass = total + m * auc, mass + m
    return total / mass


# User 1: clicks .9 .1, others .1 .8 -> pairs: .9>.1, .9>.8, .1=.1 (half), .1<.8:
# 2.5 / 4. User 2: click .2 above other .1: 1. User 3 has no click.
USERS = [1, 1, 1, 1, 2, 2, 3]
LABELS = [1, 1, 0, 0, 1, 0, 0]
SCORES = [0.9, 0.1, 0.1, 0.8, 0.2, 0.1, 0.5]


def test_each_user_weight_by_hand():
    first, second = 2.5 / 4, 1.0
    assert gauc(USERS, LABELS, SCORES) == pytest.approx((4 * first + 2 * second) / 6)
    assert gauc(USERS, LABELS, SCORES, None, "clicks") == pytest.approx(
        (2 * first + 1 * second) / 3
    )
    assert gauc(USERS, LABELS, SCORES, None, "users") == pytest.approx(
        (first + second) / 2
    )


def test_weights_weigh_pairs_and_masses():
    weights = [2, 1, 3, 1, 1, 1, 1]
    # User 1: w(.9)=2 over .1 (3) and .8 (1): 8; w(.1)=1 ties .1 (3): 1.5; of 3 * 4.
    first = (2 * 3 + 2 * 1 + 0.5 * 1 * 3) / (3 * 4)
    expected = {
        "weight": (7 * first + 2 * 1) / 9,
        "clicks": (3 * first + 1 * 1) / 4,
        "users": (first + 1) / 2,
        "impressions": (4 * 2.5 / 4 + 2 * 1) / 6,  # unweighted on purpose
    }
    for user_weight, value in expected.items():
        assert gauc(USERS, LABELS, SCORES, weights, user_weight) == pytest.approx(
            value, abs=1e-12
        )


@pytest.mark.parametrize("user_weight", USER_WEIGHTS)
def test_equals_a_loop_over_users(user_weight):
    rng = np.random.default_rng(3)
    users = rng.zipf(1.4, 4000) % 300
    scores = np.round(rng.random(4000), 2)  # many ties
    labels = (rng.random(4000) < scores * 0.4).astype(int)
    weights = rng.choice([0.0, 0.1, 1.0, 7.3, 1e4], 4000)
    assert gauc(users, labels, scores, weights, user_weight) == pytest.approx(
        loop_gauc(users, labels, scores, weights, user_weight), abs=1e-10
    )


def test_scores_one_float64_step_apart_are_no_tie():
    high = np.nextafter(0.5, 1)
    assert np.float32(high) == np.float32(0.5)
    assert gauc([1, 1], [1, 0], [high, 0.5]) == 1.0


def test_negative_zero_ties_with_zero():
    assert gauc([1, 1], [1, 0], [0.0, -0.0]) == 0.5


def test_a_constant_shift_of_one_users_scores_changes_nothing():
    shifted = [s + 0.5 * (u == 1) for s, u in zip(SCORES, USERS, strict=True)]
    assert gauc(USERS, LABELS, shifted) == pytest.approx(gauc(USERS, LABELS, SCORES))


def test_rows_without_user_are_left_out_and_counted():
    accumulator = SliceAccumulator()
    users = encode_users([*USERS, None, ""])
    columns, _ = check_columns(users, [*LABELS, 1, 0], [*SCORES, 0.1, 0.9])
    accumulator.add(columns)
    result = accumulator.result()
    assert result.metrics["gauc"].value == gauc(USERS, LABELS, SCORES)
    assert result.counts.rows_without_user == 2
    assert result.counts.users == 3
    assert (result.counts.users_scored, result.counts.rows_scored) == (2, 6)


def test_weights_of_all_scales_keep_their_sum():
    rng = np.random.default_rng(0)
    users = rng.integers(0, 20, 500)
    weights = 10.0 ** rng.uniform(-8, 8, 500) * (1 + users)
    columns, _ = check_columns(users, rng.random(500) < 0.5, rng.random(500), weights)
    sums = user_sums(columns, columns.scores, "weight")
    expected = [weights[users == user].sum() for user in np.unique(users)]
    np.testing.assert_allclose(sums.weight, expected, rtol=1e-12)

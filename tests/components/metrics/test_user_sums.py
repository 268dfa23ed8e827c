"""GAUC and sums by user against hand arithmetic and loops over users."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from components.metrics import user_sums as module
from components.metrics.columns import check_columns, encode_users
from components.metrics.names import USER_WEIGHTS
from components.metrics.ranking import rank
from components.metrics.slice_metrics import evaluate_rows
from components.metrics.user_sums import (
    PROBABILITY_FLOOR,
    default_user_weight,
    user_sums,
)

# User 1: clicks .9 .1, others .1 .8 -> pairs: .9>.1, .9>.8, .1=.1 (half), .1<.8:
# 2.5 / 4. User 2: click .2 above other .1: 1. User 3 has no click.
USERS = [1, 1, 1, 1, 2, 2, 3]
LABELS = [1, 1, 0, 0, 1, 0, 0]
SCORES = [0.9, 0.1, 0.1, 0.8, 0.2, 0.1, 0.5]


def evaluate(users, labels, scores, weights=None, user_weight="impressions"):
    columns, _ = check_columns(encode_users(users), labels, scores, weights)
    return evaluate_rows(columns, user_weight)


def gauc(*args, **options):
    return evaluate(*args, **options).metrics["gauc"].value


def sums_of(columns, user_weight="weight", terms=None):
    return user_sums(rank(columns, columns.scores), user_weight, terms)


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


def test_each_user_weight_by_hand():
    first, second = 2.5 / 4, 1.0
    assert gauc(USERS, LABELS, SCORES) == pytest.approx((4 * first + 2 * second) / 6)
    assert gauc(USERS, LABELS, SCORES, user_weight="clicks") == pytest.approx(
        (2 * first + 1 * second) / 3
    )
    assert gauc(USERS, LABELS, SCORES, user_weight="users") == pytest.approx(
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
        found = gauc(USERS, LABELS, SCORES, weights, user_weight=user_weight)
        assert found == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("user_weight", USER_WEIGHTS)
def test_gauc_equals_a_loop_over_users(user_weight):
    rng = np.random.default_rng(3)
    users = rng.zipf(1.4, 3000) % 200
    scores = np.round(rng.random(3000), 2)  # many ties
    labels = (rng.random(3000) < scores * 0.4).astype(int)
    weights = rng.choice([0.0, 0.1, 1.0, 7.3, 1e4], 3000)
    found = gauc(users, labels, scores, weights, user_weight=user_weight)
    assert found == pytest.approx(
        loop_gauc(users, labels, scores, weights, user_weight), abs=1e-10
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_equal_fractions_by_user(make_rows, weighted):
    columns = make_rows(300, weighted=weighted, users=30, digits=2)
    found = sums_of(columns)
    weights = np.ones(300) if columns.weights is None else columns.weights
    clipped = np.clip(columns.scores, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)
    losses = np.where(columns.labels, -np.log(clipped), -np.log1p(-clipped))

    def exact(values):
        return sum(map(Fraction, values.tolist()), Fraction(0))

    users = np.unique(columns.users[columns.users >= 0])
    for at, user in enumerate(users):
        mine = columns.users == user
        clicks, others = mine & columns.labels, mine & ~columns.labels
        assert (found.rows[at], found.clicks[at]) == (mine.sum(), clicks.sum())
        expected = {
            "weight": exact(weights[mine]),
            "click_weight": exact(weights[clicks]),
            "predicted": sum(
                Fraction(w) * Fraction(p)
                for w, p in zip(
                    weights[mine].tolist(), columns.scores[mine].tolist(), strict=True
                )
            ),
            "loss": exact(weights[mine] * losses[mine]),
        }
        for name, value in expected.items():
            assert getattr(found, name)[at] == pytest.approx(float(value), rel=1e-13)
        pairs = exact(weights[clicks]) * exact(weights[others])
        if not pairs:
            assert np.isnan(found.auc[at])
            continue
        won = sum(
            Fraction(weights[a]) * Fraction(weights[b]) * Fraction(1 + int(sign), 2)
            for a in np.flatnonzero(clicks)
            for b in np.flatnonzero(others)
            if (sign := np.sign(columns.scores[a] - columns.scores[b])) >= 0
        )
        assert found.auc[at] == pytest.approx(float(won / pairs), abs=1e-14)
    assert found.known.sum() == len(users)


def test_scores_one_float64_step_apart_are_no_tie():
    high = np.nextafter(0.5, 1)
    assert np.float32(high) == np.float32(0.5)
    assert gauc([1, 1], [1, 0], [high, 0.5]) == 1.0
    assert gauc([1, 1], [0, 1], [high, 0.5]) == 0.0


def test_negative_zero_ties_with_zero():
    assert gauc([1, 1], [1, 0], [0.0, -0.0]) == 0.5


def test_a_constant_shift_of_one_users_scores_changes_nothing():
    shifted = [s + 0.5 * (u == 1) for s, u in zip(SCORES, USERS, strict=True)]
    assert gauc(USERS, LABELS, shifted) == pytest.approx(gauc(USERS, LABELS, SCORES))


def test_rows_without_user_are_left_out_of_gauc_and_counted():
    result = evaluate([*USERS, None, ""], [*LABELS, 1, 0], [*SCORES, 0.1, 0.9])
    assert result.metrics["gauc"].value == gauc(USERS, LABELS, SCORES)
    assert result.counts.rows_without_user == 2
    assert result.counts.users == 3
    assert (result.counts.users_scored, result.counts.rows_scored) == (2, 6)


def test_a_perfect_order_is_never_above_one_whatever_the_weights():
    rng = np.random.default_rng(0)
    for _ in range(50):
        labels = np.arange(40) >= rng.integers(1, 39)
        weights = 10.0 ** rng.uniform(-5, 5, 40)
        columns, _ = check_columns(np.zeros(40, int), labels, np.arange(40), weights)
        (auc,) = sums_of(columns).auc
        assert 1 - 1e-14 < auc <= 1.0


def test_weights_of_all_scales_keep_their_sum():
    rng = np.random.default_rng(0)
    users = rng.integers(0, 20, 500)
    weights = 10.0 ** rng.uniform(-8, 8, 500) * (1 + users)
    columns, _ = check_columns(users, rng.random(500) < 0.5, rng.random(500), weights)
    expected = [weights[users == user].sum() for user in np.unique(users)]
    np.testing.assert_allclose(sums_of(columns).weight, expected, rtol=1e-12)


def test_one_user_with_very_many_weighted_rows_overflows_nothing():
    rng = np.random.default_rng(0)
    count = 1 << 17  # 61 - 17 = 44 bits are left for each weight
    weights = rng.uniform(0.5, 1, count) * 1e6
    scores, labels = rng.random(count), rng.random(count) < 0.3
    columns, _ = check_columns(np.zeros(count, int), labels, scores, weights)
    found = sums_of(columns)
    assert found.weight[0] == pytest.approx(weights.sum(), rel=2.0**-43)
    assert found.auc[0] == pytest.approx(
        roc_auc_score(labels, scores, sample_weight=weights), abs=1e-12
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block_rows", [1, 7, 64])
def test_blocks_of_rows_change_no_bit(make_rows, weighted, block_rows, monkeypatch):
    columns = make_rows(500, weighted=weighted, users=40)
    ranking = rank(columns, columns.scores)
    bins = len(ranking.histogram.scores)
    terms = (np.arange(bins) / bins, -np.sqrt(np.arange(bins)))
    whole = user_sums(ranking, "weight", terms)
    monkeypatch.setattr(module, "_BLOCK_ROWS", block_rows)
    split = user_sums(ranking, "weight", terms)
    for name in module.UserSums.__slots__:
        np.testing.assert_array_equal(getattr(split, name), getattr(whole, name), name)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_rows_changes_no_bit(make_rows, weighted):
    columns = make_rows(800, weighted=weighted, users=20, digits=2)
    columns = columns.take(columns.users >= 0)  # rows without a user tie in any order
    order = np.random.default_rng(5).permutation(len(columns))
    one, two = sums_of(columns), sums_of(columns.take(order))
    for name in module.UserSums.__slots__:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), name)


def test_terms_of_clicks_and_others_are_weighed_and_added_by_user():
    columns, _ = check_columns(
        np.array([0, 0, 1]), [1, 0, 1], [0.1, 0.2, 0.2], [2.0, 3.0, 5.0]
    )
    for_click, for_other = np.array([10.0, 20.0]), np.array([1.0, 2.0])
    found = sums_of(columns, terms=(for_click, for_other))
    assert found.pooled.tolist() == [2 * 10 + 3 * 2, 5 * 20]
    assert sums_of(columns).pooled.tolist() == [0, 0]


def test_the_default_user_weight_follows_the_weight_column():
    assert default_user_weight(weighted=True) == "weight"
    assert default_user_weight(weighted=False) == "impressions"


def test_clicks_and_non_clicks_may_weigh_very_differently():
    # User 0: the click ties with no other and lies between both: 1 of 2 pairs.
    columns, _ = check_columns(
        np.array([0, 0, 0, 1, 1]),
        [0, 1, 0, 0, 1],
        [0.3, 0.5, 0.6, 0.2, 0.4],
        [1e-16, 1.0, 1e-16, 1.0, 1.0],
    )
    users = user_sums(rank(columns, columns.scores), "weight")
    np.testing.assert_allclose(users.auc, [0.5, 1.0])
    np.testing.assert_allclose(users.weight, [1.0 + 2e-16, 2.0])

"""Expected GAUC against sums over all pairs, and the cases without a pair."""

import numpy as np
import pytest

from data.simulator.truth import expected_gauc


def slow_expected_gauc(users, scores, truth):
    """The formula of the docstring as loops over users and pairs."""
    weighted, mass = 0.0, 0
    for user in set(users):
        rows = [row for row, other in enumerate(users) if other == user]
        won = pairs = 0.0
        for i in rows:
            for j in rows:
                if i != j:
                    weight = truth[i] * (1 - truth[j])
                    pairs += weight
                    won += weight * (
                        1.0 if scores[i] > scores[j] else 0.5 * (scores[i] == scores[j])
                    )
        if pairs > 0:
            weighted += len(rows) * won / pairs
            mass += len(rows)
    return weighted / mass if mass else None


def test_two_rows_by_hand() -> None:
    # Pairs (0, 1) with weight 0.5 * 0.9 = 0.45, won; (1, 0) with 0.1 * 0.5 = 0.05, lost.
    assert expected_gauc([7, 7], [2.0, 1.0], [0.5, 0.1]) == pytest.approx(0.45 / 0.5)


def test_users_weigh_by_their_rows() -> None:
    # User 0 as above: 0.9, 2 rows. User 1: three equal scores, 0.5, 3 rows. User 2 has
    # one row and no pair.
    users = [0, 1, 2, 1, 0, 1]
    scores = [2.0, 5.0, 1.0, 5.0, 1.0, 5.0]
    truth = [0.5, 0.2, 0.9, 0.3, 0.1, 0.4]
    expected = (2 * 0.9 + 3 * 0.5) / 5
    assert expected_gauc(users, scores, truth) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_sum_over_all_pairs(seed: int) -> None:
    random = np.random.default_rng(seed)
    users = random.integers(0, 25, 300)
    # Few distinct values make many ties.
    scores = random.integers(0, 6, 300) / 7
    truth = random.random(300)
    expected = slow_expected_gauc(users.tolist(), scores.tolist(), truth.tolist())
    assert expected_gauc(users, scores, truth) == pytest.approx(expected, abs=1e-12)


def test_certain_clicks_give_plain_auc() -> None:
    # With p in {0, 1} only pairs (click, no click) count: 5 of 6 are in order.
    scores = [0.9, 0.4, 0.5, 0.3, 0.2]
    truth = [1.0, 1.0, 0.0, 0.0, 0.0]
    assert expected_gauc([1] * 5, scores, truth) == pytest.approx(5 / 6)


def test_truth_itself_ranks_best_and_its_opposite_worst() -> None:
    random = np.random.default_rng(0)
    users, truth = random.integers(0, 40, 500), random.random(500)
    best = expected_gauc(users, truth, truth)
    for scores in (random.random(500), truth + 0.1 * random.random(500)):
        assert expected_gauc(users, scores, truth) < best
    assert expected_gauc(users, -truth, truth) == pytest.approx(1 - best, abs=1e-12)


def test_order_of_rows_and_monotone_changes_of_scores_do_not_matter() -> None:
    random = np.random.default_rng(1)
    users, scores = random.integers(0, 40, 500), random.normal(size=500)
    truth = random.random(500)
    order = random.permutation(500)
    expected = expected_gauc(users, scores, truth)
    shuffled = expected_gauc(users[order], np.exp(scores[order]), truth[order])
    assert shuffled == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("users", "truth"),
    [
        ([], []),
        ([0, 1, 2], [0.1, 0.2, 0.3]),
        # Nobody clicks: no pair has weight. Everybody clicks: neither.
        ([0, 0, 0], [0.0, 0.0, 0.0]),
        ([0, 0, 0], [1.0, 1.0, 1.0]),
    ],
)
def test_undefined_without_a_pair(users, truth) -> None:
    assert expected_gauc(users, truth, truth) is None


@pytest.mark.parametrize(
    ("scores", "truth", "message"),
    [
        ([0.1, float("nan")], [0.1, 0.2], "NaN in row 1"),
        ([0.1, 0.2], [0.1, 1.5], r"1\.5 in row 1"),
        ([0.1, 0.2], [float("nan"), 0.5], "nan in row 0"),
        ([0.1], [0.1, 0.2], "one length"),
    ],
)
def test_refuses_what_is_no_probability_or_no_number(scores, truth, message) -> None:
    with pytest.raises(ValueError, match=message):
        expected_gauc([0, 0], scores, truth)

"""Rules that all metrics share, and values against independent libraries."""

import math

import numpy as np
import pytest
from sklearn.metrics import log_loss

from components.metrics.accumulator import SliceAccumulator
from components.metrics.columns import check_columns
from components.metrics.names import METRICS


def make_rows(count=3000, seed=0, weighted=False, baseline=True):
    rng = np.random.default_rng(seed)
    users = rng.zipf(1.5, count) % 200
    users[rng.random(count) < 0.05] = -1
    scores = np.round(rng.beta(1, 9, count), 4)
    labels = rng.random(count) < scores
    weights = rng.random(count) + 0.5 if weighted else None
    other = np.clip(scores + rng.normal(0, 0.03, count), 0, 1) if baseline else None
    return check_columns(users, labels, scores, weights, other)[0]


def evaluate(*parts, user_weight="impressions"):
    total = SliceAccumulator(user_weight)
    for part in parts:
        accumulator = SliceAccumulator(user_weight)
        accumulator.add(part)
        total.merge(accumulator)
    return total.result()


@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_pcop_and_entropy_equal_other_libraries(weighted):
    columns = make_rows(weighted=weighted)
    metrics = evaluate(columns).metrics
    w = np.ones(len(columns)) if columns.weights is None else columns.weights
    loss = log_loss(columns.labels, columns.scores, sample_weight=w)
    rate = (w * columns.labels).sum() / w.sum()
    entropy = log_loss(columns.labels, np.full(len(w), rate), sample_weight=w)
    pcop = (w * columns.scores).sum() / (w * columns.labels).sum()
    assert metrics["log_loss"].value == pytest.approx(loss, abs=1e-12)
    assert metrics["normalized_entropy"].value == pytest.approx(loss / entropy)
    assert metrics["pcop"].value == pytest.approx(pcop, abs=1e-12)
    assert metrics["abs_log_pcop"].value == pytest.approx(abs(math.log(pcop)))


def test_row_order_does_not_change_a_bit():
    columns = make_rows()
    order = np.random.default_rng(9).permutation(len(columns))
    assert evaluate(columns.take(order)) == evaluate(columns)


def test_split_by_user_does_not_change_a_bit():
    columns = make_rows()
    parts = [columns.take(columns.users % 3 == part) for part in range(3)]
    assert evaluate(*parts) == evaluate(columns)
    assert evaluate(*reversed(parts)) == evaluate(columns)


def test_names_of_users_do_not_matter():
    columns = make_rows()
    renamed = np.where(columns.users < 0, -1, 10_000 - columns.users)
    other, _ = check_columns(
        renamed, columns.labels, columns.scores, None, columns.baseline
    )
    assert evaluate(other) == evaluate(columns)


def test_scaling_all_weights_changes_nothing():
    columns = make_rows(weighted=True, baseline=False)
    scaled, _ = check_columns(
        columns.users, columns.labels, columns.scores, columns.weights * 3.7
    )
    for user_weight in ("weight", "clicks", "users"):
        one = evaluate(columns, user_weight=user_weight).metrics
        two = evaluate(scaled, user_weight=user_weight).metrics
        for name in METRICS:
            assert two[name].value == pytest.approx(one[name].value, abs=1e-12), name


def test_rising_change_of_scores_keeps_ranking_metrics():
    columns = make_rows(baseline=False)
    changed, _ = check_columns(columns.users, columns.labels, columns.scores**3 / 7)
    for name in ("gauc", "auc", "pr_auc"):
        expected = evaluate(columns).metrics[name].value
        assert evaluate(changed).metrics[name].value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("labels", "scores", "reasons"),
    [
        (
            [0, 0],
            [0.1, 0.2],
            dict.fromkeys(
                ("gauc", "pcop", "auc", "pr_auc", "abs_log_pcop", "normalized_entropy"),
                "no clicks",
            ),
        ),
        (
            [1, 1],
            [0.1, 0.2],
            {
                "gauc": "no user has both a click and a non-click",
                "auc": "no non-clicks",
                "normalized_entropy": "no non-clicks",
            },
        ),
        (
            [1, 0],
            [1.5, 0.2],
            dict.fromkeys(
                ("log_loss", "normalized_entropy", "ece"),
                "1 predictions lie outside [0, 1]",
            ),
        ),
        ([], [], dict.fromkeys(METRICS, "no rows of positive weight")),
    ],
)
def test_undefined_metrics_are_null_with_a_reason(labels, scores, reasons):
    users = np.zeros(len(labels), np.int64)
    columns, _ = check_columns(users, np.array(labels), scores)
    result = evaluate(columns)
    found = {k: m.reason for k, m in result.metrics.items() if m.value is None}
    assert found == reasons


def test_changes_are_candidate_less_baseline():
    result = evaluate(make_rows())
    for name in ("gauc", "pcop", "auc", "log_loss", "ece", "pr_auc"):
        change = result.metrics[name].value - result.baseline[name].value
        assert result.delta[name].value == pytest.approx(change, abs=1e-12), name
    log_ratio = math.log(result.metrics["pcop"].value / result.baseline["pcop"].value)
    assert result.delta["log_pcop"].value == pytest.approx(log_ratio)


def test_identical_models_change_by_exactly_zero():
    columns = make_rows(baseline=False)
    same, _ = check_columns(
        columns.users, columns.labels, columns.scores, None, columns.scores
    )
    delta = evaluate(same).delta
    for name in ("gauc", "log_loss", "pcop", "log_pcop"):
        assert delta[name].value == 0.0
        assert delta[name].ci95 == (0.0, 0.0)


def test_change_of_distance_needs_both_signs():
    columns = make_rows(baseline=False)  # calibrated: intervals hold 1
    doubled, _ = check_columns(
        columns.users, columns.labels, columns.scores * 2, None, columns.scores * 3
    )
    near, _ = check_columns(
        columns.users, columns.labels, columns.scores, None, columns.scores * 3
    )
    assert evaluate(near).delta["abs_log_pcop"].reason == "sign unresolved"
    # log 2x less log 3x of the same clicks.
    assert evaluate(doubled).delta["abs_log_pcop"].value == pytest.approx(
        math.log(2 / 3)
    )

"""Influences against numerical derivatives: what one user's weight does to a metric."""

import math

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from components.metrics.columns import check_columns
from components.metrics.estimates import LOG_PCOP_SUM
from components.metrics.influence import influences
from components.metrics.model_totals import ModelTotals, model_values
from components.metrics.names import USER_WEIGHTS
from components.metrics.pooled import Pooled
from components.metrics.ranking import rank
from components.metrics.slice_metrics import Part, evaluate_rows
from components.metrics.user_sums import user_sums

STEP = 1e-4
NAMES = ("gauc", "log_pcop", "pcop", "auc", "log_loss", "normalized_entropy")


def terms_of(columns, user_weight):
    ranking = rank(columns, columns.scores)
    terms = Pooled(ranking.histogram).auc_terms()
    at = terms and (terms.for_click, terms.for_other)
    users = user_sums(ranking, user_weight, at)
    totals = ModelTotals.of(columns, columns.scores, users, ranking.histogram)
    return influences(users, model_values(totals))


def plain_metrics(columns, user_weight, times):
    """Every metric by scikit-learn, user ``u`` being there ``times[u]`` times."""
    own = np.ones(len(columns)) if columns.weights is None else columns.weights
    w, y, p = own * times[columns.users], columns.labels, columns.scores
    ordered = mass = 0.0
    for user in np.unique(columns.users):
        mine = columns.users == user
        if not 0 < y[mine].sum() < mine.sum():
            continue
        unweighted = user_weight == "impressions"
        inside = np.ones(mine.sum()) if unweighted else own[mine]
        m = (
            times[user]
            * {
                "impressions": mine.sum(),
                "clicks": (own * y)[mine].sum(),
                "users": 1.0,
                "weight": own[mine].sum(),
            }[user_weight]
        )
        ordered += m * roc_auc_score(y[mine], p[mine], sample_weight=inside)
        mass += m
    rate = (w * y).sum() / w.sum()
    loss = log_loss(y, p, sample_weight=w)
    entropy = -(rate * math.log(rate) + (1 - rate) * math.log(1 - rate))
    pcop = (w * p).sum() / (w * y).sum()
    return {
        "gauc": ordered / mass,
        "pcop": pcop,
        "log_pcop": math.log(pcop),
        "auc": roc_auc_score(y, p, sample_weight=w),
        "log_loss": loss,
        "normalized_entropy": loss / entropy,
    }


def derivatives(columns, user_weight, user, users):
    times = np.ones(users)
    ends = []
    for step in (STEP, -STEP):
        times[user] = 1 + step
        ends.append(plain_metrics(columns, user_weight, times))
    return {name: (ends[0][name] - ends[1][name]) / (2 * STEP) for name in NAMES}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("user_weight", USER_WEIGHTS)
def test_influence_is_the_derivative_by_the_weight_of_the_user(weighted, user_weight):
    rng = np.random.default_rng(0)
    users = np.concatenate([np.arange(8), rng.integers(0, 8, 112)])
    scores = np.round(rng.uniform(0.05, 0.95, 120), 1)  # ties inside and between users
    weights = rng.lognormal(0, 1, 120) if weighted else None
    labels = rng.random(120) < scores
    labels[users == 7] = True  # one user without an AUC
    columns, _ = check_columns(users, labels, scores, weights)
    terms = terms_of(columns, user_weight)
    assert set(terms) == set(NAMES)
    for user in range(8):
        expected = derivatives(columns, user_weight, user, 8)
        for name in NAMES:
            found = terms[name][user]
            assert found == pytest.approx(expected[name], abs=1e-7), (name, user)


@pytest.mark.parametrize("weighted", [False, True])
def test_influences_of_all_users_cancel(make_rows, weighted):
    columns = make_rows(2000, weighted=weighted, baseline=False)
    for name, terms in terms_of(columns, "impressions").items():
        assert abs(terms.sum()) <= 1e-12 + 1e-12 * abs(terms).sum(), name


def test_rows_without_a_user_have_a_share_in_all_metrics_but_gauc(make_rows):
    columns = make_rows(500, baseline=False)
    unknown = int((columns.users < 0).sum())
    terms = terms_of(columns, "impressions")
    assert unknown > 0
    assert not terms["gauc"][-unknown:].any()
    for name in NAMES[1:]:
        assert terms[name][-unknown:].all(), name


def test_undefined_metrics_have_no_influences():
    def names(labels, scores):
        columns, _ = check_columns(np.array([0, 0, 1]), labels, scores)
        return set(terms_of(columns, "impressions"))

    assert names([0, 0, 0], [0.1, 0.2, 0.3]) == {"log_loss"}
    assert names([1, 1, 1], [0.1, 0.2, 0.3]) == {"log_pcop", "pcop", "log_loss"}
    assert names([1, 0, 0], [1.5, 0.2, 0.3]) == {"gauc", "log_pcop", "pcop", "auc"}
    assert names([1, 0, 0], [0.0, 0.0, 0.0]) == {
        "gauc",
        "auc",
        "log_loss",
        "normalized_entropy",
    }


def simulated(rng, users=100):
    """Rows of users who differ in activity and click rate; two models."""
    rows = rng.integers(2, 12, users)
    ids = np.repeat(np.arange(users), rows)
    taste = np.repeat(rng.normal(-1, 1, users), rows)
    true = taste + rng.normal(0, 1, len(ids))
    labels = rng.random(len(ids)) < 1 / (1 + np.exp(-true))
    first, second = (
        1 / (1 + np.exp(-true - rng.normal(0, noise, len(ids)))) for noise in (0.5, 1.0)
    )
    return check_columns(ids, labels, first, None, second)[0]


def test_standard_errors_are_within_15_percent_of_the_spread_over_simulated_logs():
    rng = np.random.default_rng(0)
    results = [evaluate_rows(simulated(rng)) for _ in range(120)]
    # The spread of 120 values is known to 6.5 %.
    ratios = ("gauc", "log_loss", "normalized_entropy", "auc")
    cases = [(name, [one.metrics[name] for one in results]) for name in ratios]
    cases += [(name, [one.delta[name] for one in results]) for name in NAMES]
    for name, estimates in cases:
        spread = np.std([one.value for one in estimates])
        squares = [one.standard_error**2 for one in estimates]
        assert np.sqrt(np.mean(squares)) == pytest.approx(spread, rel=0.15), name


def test_changes_without_user_ids_are_paired_row_by_row():
    rng = np.random.default_rng(0)
    labels = rng.random(400) < 0.3
    scores, other = rng.uniform(0.1, 0.9, (2, 400))  # in different orders
    columns, _ = check_columns(np.full(400, -1), labels, scores, None, other)
    losses = [-np.where(labels, np.log(p), np.log(1 - p)) for p in (scores, other)]
    change = losses[0] - losses[1]
    terms = (change - change.mean()) / 400
    effective = (terms**2).sum() ** 2 / (terms**4).sum()
    error = np.sqrt((terms**2).sum() * effective / (effective - 1))
    delta = evaluate_rows(columns).delta["log_loss"]
    assert delta.standard_error == pytest.approx(error)
    assert delta.effective_users == pytest.approx(effective)


def test_errors_of_a_change_are_differences_of_influences(make_rows):
    columns = make_rows(600)
    _, errors = Part(columns, "impressions").both()
    candidate = terms_of(columns, "impressions")
    other, _ = check_columns(columns.users, columns.labels, columns.baseline)
    baseline = terms_of(other, "impressions")
    assert set(errors.change) == {*NAMES, LOG_PCOP_SUM}
    for name in NAMES:
        terms = candidate[name] - baseline[name]
        effective = (terms**2).sum() ** 2 / (terms**4).sum()
        assert errors.change[name].effective_users == pytest.approx(effective), name

"""Estimates: intervals, changes, and the reasons why there is none."""

import math

import numpy as np
import pytest
from scipy import stats

from components.metrics.calibration_error import (
    calibration_error,
    calibration_error_by_chance,
)
from components.metrics.columns import check_columns
from components.metrics.names import CHANGES, METRICS
from components.metrics.pooled import Pooled
from components.metrics.ranking import rank
from components.metrics.slice_metrics import Part, evaluate_rows, slice_result
from components.metrics.slice_totals import merged_totals

PAIRED = ("gauc", "pcop", "auc", "log_loss", "normalized_entropy", "log_pcop")


def evaluate(users, labels, scores, weights=None, baseline=None, **options):
    columns, _ = check_columns(np.asarray(users), labels, scores, weights, baseline)
    return evaluate_rows(columns, **options)


def with_baseline(columns, candidate, baseline):
    """The same rows with other predictions."""
    args = columns.users, columns.labels, candidate, columns.weights, baseline
    return evaluate_rows(check_columns(*args)[0])


def test_pcop_has_an_interval_that_is_even_on_the_log_scale(make_rows):
    columns = make_rows(baseline=False)
    found = evaluate_rows(columns).metrics
    # By user, with rows without a user as users of their own.
    units = np.where(columns.users < 0, 1000 + np.arange(len(columns)), columns.users)
    _, unit = np.unique(units, return_inverse=True)
    predicted, clicks = (
        np.bincount(unit, column) for column in (columns.scores, columns.labels)
    )
    pcop = predicted.sum() / clicks.sum()
    errors = predicted / predicted.sum() - clicks / clicks.sum()
    effective = (errors**2).sum() ** 2 / (errors**4).sum()
    error = np.sqrt((errors**2).sum() * effective / (effective - 1))
    low, high = stats.t.interval(0.95, effective - 1, math.log(pcop), error)
    for name in ("pcop", "abs_log_pcop"):
        assert found[name].standard_error == pytest.approx(error)
        assert found[name].effective_users == pytest.approx(effective)
    assert found["pcop"].value == pytest.approx(pcop)
    assert found["pcop"].ci95 == pytest.approx((math.exp(low), math.exp(high)))
    assert low < 0 < high  # the rows are calibrated
    assert found["abs_log_pcop"].ci95 == pytest.approx((0, max(-low, high)))


def test_distance_from_one_keeps_its_interval_on_either_side(make_rows):
    columns = make_rows(baseline=False)
    for factor in (2.0, 0.5):
        found = with_baseline(columns, columns.scores * factor, None).metrics
        ends = sorted(abs(math.log(end)) for end in found["pcop"].ci95)
        assert found["abs_log_pcop"].ci95 == pytest.approx(tuple(ends))


def test_ece_has_no_interval_but_what_chance_alone_would_give(make_rows):
    columns = make_rows(weighted=True)
    ece = evaluate_rows(columns).metrics["ece"]
    buckets = Pooled(rank(columns, columns.scores).histogram).calibration
    spread = (columns.weights**2).sum() / columns.weights.sum()
    by_chance = calibration_error_by_chance(buckets, spread)
    assert ece.value == pytest.approx(calibration_error(buckets))
    assert (ece.ci95, ece.standard_error) == (None, None)
    assert ece.notes["expected_if_calibrated"] == pytest.approx(by_chance)
    assert ece.notes["excess"] == pytest.approx(ece.value - by_chance)


def test_every_other_metric_but_pr_auc_has_an_interval_around_its_value(make_rows):
    for name, one in evaluate_rows(make_rows()).metrics.items():
        if name in ("ece", "pr_auc"):
            assert one.ci95 is None
        else:
            assert one.ci95[0] <= one.value <= one.ci95[1]


# Few users.


def alternating(users):
    """Two rows a user; every second user is ranked the wrong way round."""
    ids = np.repeat(np.arange(users), 2)
    labels = np.tile([1, 0], users)
    scores = np.where(labels == (ids % 2 == 0), 0.6, 0.4) + ids * 0.01
    return ids, labels, scores


def test_there_is_no_interval_with_fewer_than_five_effective_users():
    for users, has_interval in ((4, False), (6, True)):
        gauc = evaluate(*alternating(users)).metrics["gauc"]
        # Half of the users are at 1, half at 0: all are equally far from the mean.
        assert gauc.value == 0.5
        assert gauc.effective_users == pytest.approx(users)
        assert (gauc.ci95 is not None) == has_interval


@pytest.mark.parametrize("labels", [[1, 0, 0], [1, 0, 1]])
def test_a_single_user_has_values_but_no_standard_errors(labels):
    found = evaluate([7, 7, 7], labels, [0.5, 0.2, 0.3]).metrics
    for name, one in found.items():
        assert one.value is not None, name
        assert (one.ci95, one.standard_error) == (None, None), name


def test_values_without_spread_between_users_are_not_called_certain():
    # Every user is ranked perfectly; that does not make the next user's AUC certain.
    ids, labels, _ = alternating(30)
    gauc = evaluate(ids, labels, labels * 0.5 + 0.1).metrics["gauc"]
    assert (gauc.value, gauc.ci95, gauc.standard_error) == (1.0, None, None)


# Changes.


@pytest.mark.parametrize("weighted", [False, True])
def test_changes_are_candidate_less_baseline(make_rows, weighted):
    columns = make_rows(weighted=weighted)
    doubled, tripled = (
        np.minimum(scores * factor, 1.0)
        for scores, factor in ((columns.scores, 2), (columns.baseline, 3))
    )
    result = with_baseline(columns, doubled, tripled)
    assert set(result.delta) == set(CHANGES)
    for name in METRICS:
        change = result.metrics[name].value - result.baseline[name].value
        assert result.delta[name].value == pytest.approx(change, abs=1e-12), name
    ratio = result.metrics["pcop"].value / result.baseline["pcop"].value
    assert result.delta["log_pcop"].value == pytest.approx(math.log(ratio))
    assert all(result.delta[name].standard_error > 0 for name in PAIRED)


def test_pairing_by_user_is_sharper_than_two_separate_intervals(make_rows):
    result = evaluate_rows(make_rows())
    for name in ("gauc", "auc", "log_loss", "normalized_entropy"):
        own = (result.metrics[name], result.baseline[name])
        apart = math.hypot(*(one.standard_error for one in own))
        assert 0 < result.delta[name].standard_error < apart, name


@pytest.mark.parametrize("weighted", [False, True])
def test_identical_models_change_by_zero_for_certain(make_rows, weighted):
    columns = make_rows(weighted=weighted, baseline=False)
    delta = with_baseline(columns, columns.scores, columns.scores).delta
    for name in PAIRED:
        one = delta[name]
        found = (one.value, one.ci95, one.standard_error, one.effective_users)
        assert found == (0.0, (0.0, 0.0), 0.0, 0.0), name
    assert (delta["ece"].value, delta["pr_auc"].value) == (0.0, 0.0)


def test_a_change_of_one_user_has_no_interval():
    result = evaluate([7, 7], [1, 0], [0.5, 0.2], None, [0.4, 0.3])
    pcop = result.delta["pcop"]
    assert pcop.value == pytest.approx(0.0)
    loss = result.delta["log_loss"]
    assert loss.value == pytest.approx((-math.log(0.5 * 0.8) + math.log(0.4 * 0.7)) / 2)
    assert (loss.ci95, loss.standard_error) == (None, None)


@pytest.mark.parametrize(
    ("candidate", "baseline", "resolved"),
    [(1, 3, False), (3, 1, False), (2, 3, True), (2, 1 / 3, True)],
)
def test_change_of_distance_from_one_needs_both_intervals_to_exclude_one(
    make_rows, candidate, baseline, resolved
):
    columns = make_rows(baseline=False)  # calibrated: its interval holds 1
    scores = columns.scores
    result = with_baseline(columns, scores * candidate, scores * baseline)
    change = result.delta["abs_log_pcop"]
    if not resolved:
        assert (change.value, change.reason) == (None, "sign unresolved")
        return
    log_pcop = math.log(scores.sum() / columns.labels.sum())
    expected = abs(log_pcop + math.log(candidate)) - abs(log_pcop + math.log(baseline))
    assert change.value == pytest.approx(expected)
    # Both logarithms linearised by user; a multiple of all scores changes neither.
    units = np.where(columns.users < 0, 1000 + np.arange(len(columns)), columns.users)
    unit = np.unique(units, return_inverse=True)[1]
    errors = np.bincount(unit, scores / scores.sum()) - np.bincount(
        unit, columns.labels / columns.labels.sum()
    )
    errors *= np.sign(math.log(candidate)) - np.sign(math.log(baseline))
    squares = (errors**2).sum()
    if squares == 0:  # on one side of 1: the same factor for every user
        assert change.standard_error == pytest.approx(0, abs=1e-12)
        return
    effective = squares**2 / (errors**4).sum()
    error = np.sqrt(squares * effective / (effective - 1))
    ends = stats.t.interval(0.95, effective - 1, expected, error)
    assert change.ci95 == pytest.approx(ends)


def test_cut_scores_tell_how_far_off_the_pooled_auc_may_be(make_rows):
    columns = make_rows()
    part = Part(columns, "impressions")
    totals = merged_totals([part.totals()], score_limit=4)
    values = totals.values()
    errors = part.errors(values, totals.auc_terms())
    found = slice_result(values, errors).metrics["auc"]
    exact = evaluate_rows(columns).metrics["auc"]
    assert "error_bound" not in exact.notes
    assert 0 < abs(found.value - exact.value) <= found.notes["error_bound"]


# Reasons.

NO_CLICKS = dict.fromkeys(
    ("gauc", "pcop", "auc", "pr_auc", "abs_log_pcop", "normalized_entropy"), "no clicks"
)


@pytest.mark.parametrize(
    ("labels", "scores", "reasons"),
    [
        ([0, 0], [0.1, 0.2], NO_CLICKS),
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
        (
            [1, 0],
            [0.0, 0.0],
            {"abs_log_pcop": "predicted clicks are not positive"},
        ),
        ([], [], dict.fromkeys(METRICS, "no rows of positive weight")),
    ],
)
def test_undefined_metrics_are_null_with_a_reason(labels, scores, reasons):
    result = evaluate(np.zeros(len(labels), np.int64), np.array(labels), scores)
    found = {k: m.reason for k, m in result.metrics.items() if m.value is None}
    assert found == reasons
    assert all(m.reason is None for m in result.metrics.values() if m.value is not None)


def test_gauc_without_a_declared_user_says_so():
    result = evaluate([-1, -1], [1, 0], [0.5, 0.2], user_declared=False)
    assert result.metrics["gauc"].reason == "no user id declared"
    result = evaluate([-1, -1], [1, 0], [0.5, 0.2])
    assert result.metrics["gauc"].reason == "no user has both a click and a non-click"


def test_a_change_is_undefined_for_the_reason_of_the_undefined_model():
    outside = "1 predictions lie outside [0, 1]"
    labels, good, bad = [1, 0, 1], [0.5, 0.2, 0.3], [1.5, 0.2, 0.3]
    assert (
        evaluate([0, 0, 1], labels, bad, None, good).delta["log_loss"].reason == outside
    )
    assert (
        evaluate([0, 0, 1], labels, good, None, bad).delta["log_loss"].reason
        == f"baseline: {outside}"
    )


def test_log_pcop_is_undefined_where_a_model_predicts_no_clicks():
    zero, good = [0.0, 0.0], [0.5, 0.2]
    delta = evaluate([0, 1], [1, 0], good, None, zero).delta
    assert delta["log_pcop"].reason == "baseline: predicted clicks are not positive"
    assert delta["pcop"].value == pytest.approx(0.7)

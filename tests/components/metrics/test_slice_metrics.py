"""Two passes over users dealt in any way give what one pass over all rows gives."""

import json
import math
import pickle

import numpy as np
import pytest
from sklearn.metrics import log_loss

from components.metrics.columns import check_columns
from components.metrics.names import METRICS, USER_WEIGHTS
from components.metrics.slice_metrics import (
    Part,
    SliceErrors,
    evaluate_rows,
    slice_result,
)
from components.metrics.slice_totals import SliceTotals, merged_totals


def as_json(result):
    return json.dumps(result.to_json(), allow_nan=False)


def dealt(columns, parts, rng):
    """Rows of users dealt at random; rows without a user go anywhere."""
    part_of_user = rng.integers(0, parts, columns.users.max(initial=0) + 1)
    part = np.where(
        columns.users < 0,
        rng.integers(0, parts, len(columns)),
        part_of_user[columns.users],
    )
    return [columns.take(part == one) for one in range(parts)]


def merged_at_random(totals, rng, limit):
    """Merges totals a few at a time, in random order."""
    while len(totals) > 1:
        totals = [totals[at] for at in rng.permutation(len(totals))]
        taken, totals = totals[:3], totals[3:]
        totals.append(merged_totals(taken, limit))
    return merged_totals(totals, limit)


def two_passes(columns, user_weight, parts, rng, limit=None):
    order = rng.permutation(len(columns))
    users = [Part(rows, user_weight) for rows in dealt(columns.take(order), parts, rng)]
    totals = merged_at_random([one.totals() for one in users], rng, limit)
    errors = SliceErrors()
    for at in rng.permutation(parts):
        errors.merge(users[at].errors(totals.values(), totals.auc_terms()))
    return slice_result(totals.values(), errors)


@pytest.mark.parametrize("user_weight", USER_WEIGHTS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("baseline", [False, True])
def test_two_passes_equal_one_byte_for_byte(make_rows, user_weight, weighted, baseline):
    columns = make_rows(1000, weighted=weighted, baseline=baseline, digits=2)
    expected = as_json(evaluate_rows(columns, user_weight))
    rng = np.random.default_rng(3)
    for parts in (1, 2, 7):
        assert as_json(two_passes(columns, user_weight, parts, rng)) == expected


def test_more_parts_than_users_leave_some_empty_and_change_nothing(make_rows):
    columns = make_rows(60, weighted=True, users=5)
    expected = as_json(evaluate_rows(columns))
    rng = np.random.default_rng(0)
    assert as_json(two_passes(columns, "impressions", 40, rng)) == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_cut_scores_depend_on_the_set_of_rows_alone(make_rows, weighted):
    columns = make_rows(1500, weighted=weighted, digits=9)
    rng = np.random.default_rng(3)
    results = {
        as_json(two_passes(columns, "weight", parts, rng, limit=50))
        for parts in (1, 2, 5, 9)
    }
    assert len(results) == 1
    exact = evaluate_rows(columns, "weight")
    (found,) = map(json.loads, results)
    # What is summed by user knows nothing of the limit.
    for name in ("gauc", "pcop", "log_loss"):
        assert found["metrics"][name]["value"] == exact.metrics[name].value
    assert found["metrics"]["auc"]["value"] != exact.metrics["auc"].value


def test_row_order_does_not_change_a_byte(make_rows):
    columns = make_rows(weighted=True)
    order = np.random.default_rng(9).permutation(len(columns))
    assert as_json(evaluate_rows(columns.take(order))) == as_json(
        evaluate_rows(columns)
    )


def test_names_of_users_do_not_matter(make_rows):
    columns = make_rows()
    renamed = np.where(columns.users < 0, -1, 10_000 - columns.users)
    other, _ = check_columns(
        renamed, columns.labels, columns.scores, None, columns.baseline
    )
    assert as_json(evaluate_rows(other)) == as_json(evaluate_rows(columns))


def test_merging_leaves_the_parts_as_they_were(make_rows):
    columns = make_rows(300)
    whole = Part(columns, "impressions").totals()
    other = Part(columns, "impressions").totals()
    total = SliceTotals()
    for part in (whole, other):
        total.merge(part)
    assert total.counts.rows == 600
    assert whole.counts.rows == 300
    assert whole.models[0].sums == other.models[0].sums


def test_totals_and_errors_can_be_sent_between_processes(make_rows):
    part = Part(make_rows(500, weighted=True), "weight")
    totals = merged_totals([pickle.loads(pickle.dumps(part.totals()))])
    sent, terms = pickle.loads(pickle.dumps((totals.values(), totals.auc_terms())))
    errors = pickle.loads(pickle.dumps(part.errors(sent, terms)))
    assert as_json(slice_result(sent, errors)) == as_json(slice_result(*part.both()))


def test_counts_are_those_of_the_rows(make_rows):
    columns = make_rows(1000)
    counts = evaluate_rows(columns).counts
    known = columns.users[columns.users >= 0]
    clicks = np.bincount(known, columns.labels[columns.users >= 0])
    rows = np.bincount(known)
    scored = (clicks > 0) & (clicks < rows)
    assert counts.rows == 1000
    assert counts.clicks == columns.labels.sum()
    assert counts.users == len(np.unique(known))
    assert counts.users_scored == scored.sum()
    assert counts.rows_scored == rows[scored].sum()
    assert counts.rows_without_user == 1000 - len(known)


@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_pcop_and_entropy_equal_other_libraries(make_rows, weighted):
    columns = make_rows(weighted=weighted)
    result = evaluate_rows(columns)
    metrics = result.metrics
    w = np.ones(len(columns)) if columns.weights is None else columns.weights
    loss = log_loss(columns.labels, columns.scores, sample_weight=w)
    rate = (w * columns.labels).sum() / w.sum()
    entropy = log_loss(columns.labels, np.full(len(w), rate), sample_weight=w)
    pcop = (w * columns.scores).sum() / (w * columns.labels).sum()
    assert metrics["log_loss"].value == pytest.approx(loss, abs=1e-12)
    assert metrics["normalized_entropy"].value == pytest.approx(loss / entropy)
    assert metrics["pcop"].value == pytest.approx(pcop, abs=1e-12)
    assert metrics["abs_log_pcop"].value == pytest.approx(abs(math.log(pcop)))
    assert result.weight == pytest.approx(w.sum())
    assert result.click_weight == pytest.approx((w * columns.labels).sum())
    assert result.predicted == pytest.approx((w * columns.scores).sum())


def test_scaling_all_weights_changes_nothing(make_rows):
    columns = make_rows(weighted=True, baseline=False)
    scaled, _ = check_columns(
        columns.users, columns.labels, columns.scores, columns.weights * 3.7
    )
    for user_weight in ("weight", "clicks", "users"):
        one = evaluate_rows(columns, user_weight).metrics
        two = evaluate_rows(scaled, user_weight).metrics
        for name in METRICS:
            assert two[name].value == pytest.approx(one[name].value, abs=1e-12), name


def test_rising_change_of_scores_keeps_ranking_metrics(make_rows):
    columns = make_rows(baseline=False)
    changed, _ = check_columns(columns.users, columns.labels, columns.scores**3 / 7)
    for name in ("gauc", "auc", "pr_auc"):
        expected = evaluate_rows(columns).metrics[name].value
        assert evaluate_rows(changed).metrics[name].value == pytest.approx(expected)


def test_users_are_counted_by_their_auc():
    # AUC of users 0 to 2: 1, 1/2 and 0; of 20 bins the last, the eleventh, the first.
    columns, _ = check_columns(
        np.repeat([0, 1, 2], 2), [1, 0] * 3, [0.9, 0.1, 0.5, 0.5, 0.1, 0.9]
    )
    drawn = evaluate_rows(columns).curves["user_auc"]
    assert {at: n for at, n in enumerate(drawn["users"]) if n} == {0: 1, 10: 1, 19: 1}
    assert drawn["edges"] == pytest.approx([at / 20 for at in range(21)])

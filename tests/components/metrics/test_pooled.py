"""Pooled metrics against scikit-learn, slow loops and simulation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from components.metrics import pooled
from components.metrics.calibration_error import (
    calibration_error,
    calibration_error_by_chance,
)
from components.metrics.columns import check_columns
from components.metrics.pooled import Pooled
from components.metrics.ranking import rank
from components.metrics.score_histogram import ScoreHistogram, cut


def pool(scores, labels, weights=None, limit=None):
    columns, _ = check_columns(np.full(len(scores), -1), labels, scores, weights)
    histogram = rank(columns, columns.scores).histogram
    return Pooled(ScoreHistogram.merged([histogram], limit))


def rows(count=3000, seed=0, digits=2, weighted=False):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(count), digits)
    weights = rng.lognormal(0, 2, count) if weighted else None
    return scores, rng.random(count) < scores * 0.5, weights


@pytest.mark.parametrize("digits", [2, 9])  # with ties, and without
@pytest.mark.parametrize("weighted", [False, True])
def test_auc_and_pr_auc_equal_scikit_learn(weighted, digits):
    scores, labels, weights = rows(digits=digits, weighted=weighted)
    one = pool(scores, labels, weights)
    area = roc_auc_score(labels, scores, sample_weight=weights)
    precision = average_precision_score(labels, scores, sample_weight=weights)
    assert one.auc == pytest.approx(area, abs=1e-12)
    assert one.pr_auc() == pytest.approx(precision, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30))
def test_auc_equals_the_share_of_all_pairs(pairs):
    clicks = [score for score, label in pairs if label]
    others = [score for score, label in pairs if not label]
    won = sum(
        Fraction(int(a > b)) + Fraction(int(a == b), 2) for a in clicks for b in others
    )
    scores, labels = zip(*pairs, strict=True)
    found = pool(np.array(scores, float), np.array(labels)).auc
    if clicks and others:
        assert found == pytest.approx(float(won / len(clicks) / len(others)), abs=1e-15)
    else:
        assert found is None


def test_only_clicks_have_no_auc_but_a_precision_of_one():
    one = pool(np.array([0.1, 0.2]), np.array([1, 1]))
    assert (one.auc, one.auc_terms(), one.pr_auc()) == (None, None, 1.0)
    assert one.curves()["roc"] == {"fpr": [], "tpr": []}


def test_without_clicks_neither_auc_nor_pr_auc_is_defined():
    one = pool(np.array([0.1, 0.2]), np.array([0, 0]))
    assert (one.auc, one.pr_auc(), one.auc_bound()) == (None, None, 0.0)
    assert one.curves()["pr"] == {"recall": [], "precision": []}


def test_no_rows_have_no_metrics_and_no_points():
    one = pool(np.zeros(0), np.zeros(0))
    assert (one.auc, one.pr_auc(), one.calibration) == (None, None, [])
    assert calibration_error(one.calibration) is None
    assert calibration_error_by_chance(one.calibration, 1.0) is None
    assert sum(one.curves()["scores"]["clicks"]) == 0


@pytest.mark.parametrize("seed", range(40))
def test_weights_of_every_scale_keep_metrics_within_zero_and_one(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 60))
    scores, labels = rng.permutation(count) / count, rng.random(count) < 0.5
    labels[:2] = True, False
    weights = 10.0 ** rng.uniform(-18, 18, count)
    one = pool(scores, labels, weights)
    curves = one.curves()
    shares = [one.auc, one.pr_auc(), *curves["pr"]["precision"]]
    assert all(0 <= share <= 1 for share in shares)
    expected = average_precision_score(labels, scores, sample_weight=weights)
    assert one.pr_auc() == pytest.approx(expected, abs=1e-12)


def test_a_light_row_above_a_heavy_one_has_its_own_precision():
    # What is left above 1e17 is lost in the running sum of all weights.
    one = pool(np.array([0.5, 0.6]), np.array([1, 1]), np.array([1e17, 1.0]))
    assert one.pr_auc() == 1.0
    assert one.curves()["pr"]["precision"] == [1.0, 1.0]


# Buckets of ten.


def plain_buckets(scores, labels, weights):
    """Weight, predicted, clicks and variance by bucket, one distinct score at a time."""
    total, below, buckets = sum(weights), Fraction(0), {}
    for score in sorted(set(scores)):
        mine = [at for at, one in enumerate(scores) if one == score]
        weight = sum(weights[at] for at in mine)
        clicks = sum(weights[at] for at in mine if labels[at])
        middle = below + weight / 2
        sums = buckets.setdefault(min(int(middle / total * 10), 9), [0] * 4)
        p = Fraction(score)
        for place, term in enumerate(
            (weight, weight * p, clicks, weight * p * (1 - p))
        ):
            sums[place] += term
        below += weight
    return [list(map(float, buckets[at])) for at in sorted(buckets)]


@pytest.mark.parametrize("weighted", [False, True])
def test_calibration_buckets_equal_a_loop_over_scores(weighted):
    scores, labels, weights = rows(700, weighted=weighted)
    exact = [Fraction(one) for one in (weights if weighted else np.ones(700)).tolist()]
    expected = plain_buckets(scores.tolist(), labels.tolist(), exact)
    buckets = pool(scores, labels, weights).calibration
    found = [[one.weight, one.predicted, one.clicks, one.variance] for one in buckets]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    gaps = sum(abs(predicted - clicks) for _, predicted, clicks, _ in expected)
    assert calibration_error(buckets) == pytest.approx(gaps / float(sum(exact)))


def test_ece_by_hand():
    # Twenty rows, two a bucket; all predictions .5, give or take; buckets 1 to 5 hold
    # one click each and are right, 6 to 10 hold two and miss by one of two rows.
    scores = 0.5 + np.arange(-10, 10) * 1e-9
    labels = np.array([1, 0] * 5 + [1, 1] * 5)
    buckets = pool(scores, labels).calibration
    assert [one.weight for one in buckets] == [2] * 10
    assert calibration_error(buckets) == pytest.approx(5 * 1 / 20, abs=1e-8)
    assert buckets[9].to_json() == pytest.approx(
        {
            "lowest": scores[18],
            "highest": scores[19],
            "weight": 2,
            "predicted": 0.5 + 8.5e-9,
            "observed": 1,
        }
    )


def test_equal_scores_share_a_bucket():
    # All rows at .5, half of them clicks: calibrated, however they are ordered.
    buckets = pool(np.full(10, 0.5), np.arange(10) < 5).calibration
    assert len(buckets) == 1
    assert calibration_error(buckets) == 0.0


def mean_error_of_calibrated_clicks(scores, weights, draws=3000):
    """Mean ECE over simulated clicks whose chances are the scores themselves."""
    rng = np.random.default_rng(0)
    clicks = rng.random((draws, len(scores))) < scores
    middle = np.cumsum(weights) - weights / 2
    bucket = (middle / weights.sum() * 10).astype(int)
    member = (bucket[:, None] == np.arange(10)) * weights[:, None]
    gaps = np.abs((clicks - scores) @ member).sum(axis=1)
    return gaps.mean() / weights.sum()


def error_by_chance(scores, weights):
    spread = (weights**2).sum() / weights.sum()
    one = pool(scores, np.zeros(len(scores)), weights)
    return calibration_error_by_chance(one.calibration, spread)


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
def test_chance_error_is_within_3_percent_of_simulation_for_buckets_of_100_rows(rate):
    scores = np.sort(np.random.default_rng(1).normal(rate, 0.01, 1000))
    expected = mean_error_of_calibrated_clicks(scores, np.ones(1000), draws=1000)
    assert error_by_chance(scores, np.ones(1000)) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("rate", [0.003, 0.01, 0.03, 0.1, 0.5, 0.97])
def test_chance_error_is_within_20_percent_of_simulation_for_buckets_of_20_rows(rate):
    scores = rate * (1 + np.arange(200) * 1e-6)
    expected = mean_error_of_calibrated_clicks(scores, np.ones(200))
    assert error_by_chance(scores, np.ones(200)) == pytest.approx(expected, rel=0.2)


def test_chance_error_with_uneven_weights_is_within_10_percent_of_simulation():
    rng = np.random.default_rng(3)
    scores = np.sort(rng.normal(0.2, 0.01, 1000))
    weights = rng.choice([0.2, 1.0, 5.0], 1000)
    expected = mean_error_of_calibrated_clicks(scores, weights, draws=1000)
    assert error_by_chance(scores, weights) == pytest.approx(expected, rel=0.1)


def test_certain_predictions_have_no_error_by_chance():
    assert error_by_chance(np.array([0.0, 1.0]), np.ones(2)) == 0.0


# Curves.


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_of_few_scores_hold_every_threshold(weighted):
    scores, labels, weights = rows(800, digits=1, weighted=weighted)
    curves = pool(scores, labels, weights).curves()
    fpr, tpr, thresholds = roc_curve(
        labels, scores, sample_weight=weights, drop_intermediate=False
    )
    np.testing.assert_allclose(curves["roc"]["fpr"], fpr, atol=1e-12)
    np.testing.assert_allclose(curves["roc"]["tpr"], tpr, atol=1e-12)
    mass = np.ones(800) if weights is None else weights
    shown = [mass[scores >= score].sum() for score in thresholds[1:]]
    found = [mass[(scores >= score) & labels].sum() for score in thresholds[1:]]
    np.testing.assert_allclose(curves["pr"]["recall"], tpr[1:], atol=1e-12)
    np.testing.assert_allclose(
        curves["pr"]["precision"], np.divide(found, shown), atol=1e-12
    )


def test_curves_of_many_scores_are_thinned_to_points_of_the_true_curve():
    scores, labels, _ = rows(5000, digits=9)
    roc = pool(scores, labels).curves()["roc"]
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    true = set(zip(fpr.round(9).tolist(), tpr.round(9).tolist(), strict=True))
    points = list(
        zip(np.round(roc["fpr"], 9).tolist(), np.round(roc["tpr"], 9), strict=True)
    )
    assert set(points) <= true
    assert points[0] == (0.0, 0.0)
    assert points[-1] == (1.0, 1.0)
    assert len(points) <= 201


def test_the_distribution_of_scores_equals_numpys_histogram():
    scores, labels, weights = rows(2000, digits=9, weighted=True)
    drawn = pool(scores, labels, weights).curves()["scores"]
    for name, chosen in (("clicks", labels), ("others", ~labels)):
        expected, _ = np.histogram(
            scores[chosen], drawn["edges"], weights=weights[chosen]
        )
        np.testing.assert_allclose(drawn[name], expected, rtol=1e-12)
    assert (drawn["edges"][0], drawn["edges"][-1]) == (scores.min(), scores.max())


@pytest.mark.parametrize("other", [0.5, np.nextafter(0.5, 1)])
def test_scores_that_are_equal_or_neighbours_can_be_drawn(other):
    drawn = pool(np.array([0.5, other]), np.array([1, 0])).curves()["scores"]
    assert (sum(drawn["clicks"]), sum(drawn["others"])) == (1, 1)
    assert (np.diff(drawn["edges"]) >= 0).all()


@pytest.mark.parametrize("limit", [None, 25])
def test_each_row_finds_the_terms_of_its_score(limit):
    scores, labels, _ = rows(300, digits=4)
    histogram = ScoreHistogram.merged([pool(scores, labels, None)._histogram], limit)
    terms = Pooled(histogram).auc_terms()
    at = {score: place for place, score in enumerate(histogram.scores.tolist())}
    places = [at[score] for score in cut(scores, histogram.cut_bits).tolist()]
    for_click, for_other = terms.at(scores)
    np.testing.assert_array_equal(for_click, terms.for_click[places])
    np.testing.assert_array_equal(for_other, terms.for_other[places])


# Blocks of scores.


@pytest.mark.parametrize("weighted", [False, True])
def test_working_on_three_scores_at_a_time_changes_nothing(weighted, monkeypatch):
    scores, labels, weights = rows(400, digits=3, weighted=weighted)
    whole = pool(scores, labels, weights)
    expected = (whole.auc, whole.pr_auc(), whole.auc_terms(), whole.curves())
    buckets = [one.to_json() for one in whole.calibration]
    monkeypatch.setattr(pooled, "_CHUNK", 3)
    split = pool(scores, labels, weights)
    near = {"rtol": 1e-13, "atol": 1e-15}
    assert split.auc == pytest.approx(expected[0], abs=1e-14)
    assert split.pr_auc() == pytest.approx(expected[1], abs=1e-14)
    for name in ("for_click", "for_other"):
        found, wanted = (getattr(one, name) for one in (split.auc_terms(), expected[2]))
        np.testing.assert_allclose(found, wanted, **near)
    for bucket, other in zip(split.calibration, buckets, strict=True):
        assert bucket.to_json() == pytest.approx(other, rel=1e-13)
    for name, curve in split.curves().items():
        for axis, points in curve.items():
            wanted = np.array(expected[3][name][axis])
            # A bucket of points that goes over two blocks gives two points.
            kept = np.isclose(np.array(points)[:, None], wanted, **near).any(axis=0)
            assert kept.all(), (name, axis)


# Cut scores.


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighted", [False, True])
def test_cut_scores_keep_auc_within_the_bound(seed, weighted):
    scores, labels, weights = rows(1000, seed, digits=9, weighted=weighted)
    one = pool(scores, labels, weights, limit=64)
    error = abs(one.auc - roc_auc_score(labels, scores, sample_weight=weights))
    assert 0 < error <= one.auc_bound()
    # Cells of a 64th of the scores or more hold few of all pairs.
    assert one.auc_bound() < 0.1


def test_the_bound_is_reached_when_clicks_lead_inside_every_cell():
    # Pairs of neighbouring scores, the click just above: every cell has its pair wrong.
    cells = np.arange(1, 9) / 8
    scores = np.concatenate([cells, np.nextafter(cells, 2)])
    labels = np.repeat([False, True], 8)
    one = pool(scores, labels, limit=8)
    assert len(one.calibration) <= 8
    true = roc_auc_score(labels, scores)
    assert true - one.auc == pytest.approx(one.auc_bound(), abs=1e-15)
    assert one.auc_bound() == pytest.approx(0.5 * 8 / 64)


def test_exact_scores_have_a_bound_of_zero():
    scores, labels, _ = rows(500)
    assert pool(scores, labels).auc_bound() == 0.0

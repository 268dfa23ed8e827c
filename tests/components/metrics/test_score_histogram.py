"""Pooled metrics against scikit-learn and hand arithmetic."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from components.metrics.score_histogram import ScoreHistogram


def rows(count, seed=0, digits=2):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(count), digits)
    return scores, rng.random(count) < scores * 0.5, rng.random(count) * 3 + 0.01


def test_auc_and_pr_auc_equal_scikit_learn():
    scores, labels, weights = rows(3000)
    for w in (None, weights):
        histogram = ScoreHistogram.of(scores, labels, w)
        expected = roc_auc_score(labels, scores, sample_weight=w)
        assert histogram.auc() == pytest.approx(expected, abs=1e-12)
        precision = average_precision_score(labels, scores, sample_weight=w)
        assert histogram.pr_auc() == pytest.approx(precision, abs=1e-12)


def test_ece_by_hand():
    # Two buckets of two rows: (.1, .2) with 1 click, (.6, .9) with 2 clicks:
    # (|.3 - 1| + |1.5 - 2|) / 4.
    histogram = ScoreHistogram.of(
        np.array([0.9, 0.1, 0.6, 0.2]), np.array([True, False, True, True]), None
    )
    assert histogram.ece(2) == pytest.approx((0.7 + 0.5) / 4)


def test_equal_scores_share_a_bucket():
    # All rows at .5, half of them clicks: calibrated, however they are ordered.
    labels = np.arange(10) < 5
    assert ScoreHistogram.of(np.full(10, 0.5), labels, None).ece() == 0.0


def test_one_class_is_undefined():
    scores = np.array([0.1, 0.2])
    histogram = ScoreHistogram.of(scores, np.array([False, False]), None)
    assert histogram.auc() is None
    assert histogram.pr_auc() is None


@pytest.mark.parametrize("limit", [None, 64])
def test_state_does_not_depend_on_order_or_split(limit):
    scores, labels, _ = rows(5000, digits=9)
    scores -= 0.5  # both signs
    whole = ScoreHistogram.of(scores, labels, None, limit)
    order = np.random.default_rng(1).permutation(5000)
    parts = [
        ScoreHistogram.of(scores[part], labels[part], None, limit)
        for part in np.split(order, [40, 100, 3000])
    ]
    merged = ScoreHistogram.merged([ScoreHistogram.merged(parts[:2]), *parts[2:]])
    assert merged.cut_bits == whole.cut_bits
    for name in ("scores", "clicks", "others"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


def test_cut_scores_keep_auc_within_the_bound():
    scores, labels, _ = rows(5000, digits=9)
    cut = ScoreHistogram.of(scores, labels, None, 64)
    assert len(cut.scores) <= 64
    error = abs(cut.auc() - roc_auc_score(labels, scores))
    # 64 cells of 5,000 rows: at most half of the pairs that share a cell are wrong.
    assert 0 < error <= cut.auc_bound() < 0.05

"""Clicks by score: exact weights, merging in any order, and cutting of scores."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.exact import DIGIT_BITS
from components.metrics.score_histogram import ScoreHistogram, changes, cut


def histogram(scores, labels, weights=None):
    order = np.argsort(scores, kind="stable")
    distinct, starts = np.unique(scores[order], return_index=True)
    sorted_weights = None if weights is None else weights[order]
    return ScoreHistogram.of_sorted(distinct, labels[order], sorted_weights, starts)


def rows(count, seed=0, weighted=False):
    """Scores of both signs, some tied; weights from 1e-30 to 1e30."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 0.3, count)
    scores[: count // 4] = np.round(scores[: count // 4], 1) + 0.0
    weights = 10.0 ** rng.uniform(-30, 30, count) if weighted else None
    return scores, rng.random(count) < 0.3, weights


def bits(one):
    """All that later steps can read of a histogram, as bytes."""
    clicks, others = one.counts(slice(None))
    return one.cut_bits, one.scores.tobytes(), clicks.tobytes(), others.tobytes()


def merged_at_random(parts, rng, limit):
    """Merges parts two or three at a time, in random order, until one is left."""
    while len(parts) > 1:
        parts = [parts[at] for at in rng.permutation(len(parts))]
        taken, parts = parts[:3], parts[3:]
        parts.append(ScoreHistogram.merged(taken, limit))
    return parts[0]


def test_weights_by_score_are_exact():
    scores, labels, weights = rows(300, weighted=True)
    one = histogram(scores, labels, weights)
    for at, score in enumerate(one.scores):
        for table, wanted in ((one.click_digits, True), (one.other_digits, False)):
            chosen = weights[(scores == score) & (labels == wanted)]
            expected = sum(map(Fraction, chosen.tolist()), Fraction(0))
            found = sum(
                int(digit) * Fraction(2) ** (DIGIT_BITS * (one.lowest + place))
                for place, digit in enumerate(table[:, at])
            )
            assert found == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limit", [None, 40])
def test_state_depends_on_neither_order_nor_split_nor_the_tree_of_merges(
    weighted, limit
):
    scores, labels, weights = rows(1500, weighted=weighted)
    whole = bits(ScoreHistogram.merged([histogram(scores, labels, weights)], limit))
    rng = np.random.default_rng(1)
    for _ in range(5):
        order = rng.permutation(len(scores))
        cuts = np.sort(rng.integers(0, len(scores), 8))  # some parts may be empty
        parts = [
            histogram(
                scores[part], labels[part], None if weights is None else weights[part]
            )
            for part in np.split(order, cuts)
        ]
        assert bits(merged_at_random(parts, rng, limit)) == whole


def test_merging_one_exact_histogram_changes_nothing():
    one = histogram(*rows(500, weighted=True))
    assert bits(ScoreHistogram.merged([one])) == bits(one)


@pytest.mark.parametrize("limit", [7, 64, 500])
def test_scores_are_cut_by_the_fewest_bits_that_fit_the_limit(limit):
    scores, labels, _ = rows(2000)
    one = ScoreHistogram.merged([histogram(scores, labels)], limit)
    fits = [len(np.unique(cut(scores, count))) <= limit for count in range(64)]
    assert one.cut_bits == fits.index(True)
    assert len(one.scores) <= limit
    assert sum(one.counts(slice(None))[0]) == labels.sum()


def test_scores_that_fit_the_limit_are_not_cut():
    scores, labels, _ = rows(300)
    exact = histogram(scores, labels)
    assert bits(ScoreHistogram.merged([exact], len(exact.scores))) == bits(exact)


FINITE = st.floats(-1e300, 1e300).map(lambda score: score + 0.0)


@given(st.lists(FINITE, min_size=1, max_size=40), st.integers(0, 52))
def test_cutting_keeps_the_order_and_never_raises_a_score(scores, count):
    ordered = np.sort(np.array(scores))
    result = cut(ordered, count)
    assert (np.diff(result) >= 0).all()
    assert (result <= ordered).all()
    assert np.isfinite(result).all()


@given(st.lists(FINITE, min_size=1, max_size=40), st.integers(0, 52), st.integers(0, 9))
def test_cutting_twice_is_cutting_by_the_larger_number_of_bits(scores, first, more):
    values = np.array(scores)
    second = min(first + more, 52)
    np.testing.assert_array_equal(cut(cut(values, first), second), cut(values, second))


def test_no_rows_make_an_empty_histogram():
    nothing = histogram(np.zeros(0), np.zeros(0, np.bool_))
    assert len(ScoreHistogram.merged([nothing, nothing], 10).scores) == 0


def test_changes_mark_the_first_of_each_run():
    assert changes(np.array([2, 2, 3, 2])).tolist() == [True, False, True, True]

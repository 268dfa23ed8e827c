"""The order of rows against a plain sort of tuples."""

import numpy as np
import pytest

from components.metrics.columns import check_columns
from components.metrics.ranking import rank


def plain_units(columns):
    """Rows of each unit as sorted tuples: users by code, then rows without one."""
    rows = list(
        zip(
            columns.users.tolist(),
            columns.scores.tolist(),
            columns.labels.tolist(),
            columns.weights.tolist(),
            strict=True,
        )
    )
    users = sorted({row[0] for row in rows if row[0] >= 0})
    units = [sorted(row[1:] for row in rows if row[0] == user) for user in users]
    alone = sorted(row[1:] for row in rows if row[0] < 0)
    return units, alone


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("step", [1, 1000])  # codes close together, or far apart
def test_rows_are_grouped_by_user_and_sorted_by_score_inside(step, kind):
    rng = np.random.default_rng(0)
    users = rng.integers(-1, 40, 500)
    users = np.where(users < 0, -1, users * step).astype(kind)
    scores = np.round(rng.normal(size=500), 1)
    columns, _ = check_columns(
        users, rng.random(500) < 0.4, scores, rng.random(500) + 1
    )
    ranking = rank(columns, columns.scores)
    ranked = ranking.histogram.scores[ranking.bins]
    ends = np.append(ranking.unit_start[1:], 500)
    found = []
    for start, end in zip(ranking.unit_start, ends, strict=True):
        assert (np.diff(ranked[start:end]) >= 0).all()
        found.append(
            sorted(
                zip(
                    ranked[start:end].tolist(),
                    ranking.labels[start:end].tolist(),
                    ranking.weights[start:end].tolist(),
                    strict=True,
                )
            )
        )
    units, alone = plain_units(columns)
    known = int(ranking.known.sum())
    assert ranking.known.tolist() == [True] * len(units) + [False] * len(alone)
    assert found[:known] == units
    assert sorted(one for (one,) in found[known:]) == alone


def test_the_histogram_counts_all_rows_by_score():
    columns, _ = check_columns(
        np.array([3, -1, 3, 0]), [1, 0, 0, 1], [0.5, 0.5, -1.0, 2.0]
    )
    histogram = rank(columns, columns.scores).histogram
    assert histogram.scores.tolist() == [-1.0, 0.5, 2.0]
    clicks, others = histogram.counts(slice(None))
    assert (clicks.tolist(), others.tolist()) == ([0, 1, 1], [1, 1, 0])


@pytest.mark.parametrize("rows", [255, 256, 70_000])  # counts of 1, 2 and 4 bytes
def test_many_rows_of_one_score_are_counted(rows):
    labels = np.arange(rows + 1) % 3 == 0
    scores = np.r_[np.full(rows, 0.25), 0.5]
    columns, _ = check_columns(np.zeros(rows + 1, np.int32), labels, scores)
    clicks, others = rank(columns, columns.scores).histogram.counts(slice(None))
    of_last = int(labels[-1])
    assert clicks.tolist() == [sum(labels) - of_last, of_last]
    assert others.tolist() == [rows - sum(labels) + of_last, 1 - of_last]


def test_rows_without_a_user_are_units_of_their_own():
    columns, _ = check_columns(np.array([-1, -1]), [1, 0], [0.2, 0.2])
    ranking = rank(columns, columns.scores)
    assert ranking.unit_start.tolist() == [0, 1]
    assert not ranking.known.any()


def test_no_rows_make_no_units():
    columns, _ = check_columns(np.zeros(0, np.int64), [], [])
    ranking = rank(columns, columns.scores)
    assert (len(ranking.unit_start), len(ranking.bins)) == (0, 0)

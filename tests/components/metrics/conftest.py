"""Rows and units that the tests of the metrics core share."""

import numpy as np
import pytest

from components.metrics.columns import check_columns


@pytest.fixture
def make_rows():
    """Makes random rows: few users with many rows, ties, and rows without a user."""

    def make(count=3000, seed=0, weighted=False, baseline=True, users=200, digits=4):
        rng = np.random.default_rng(seed)
        ids = rng.zipf(1.5, count) % users
        ids[rng.random(count) < 0.05] = -1
        scores = np.round(rng.beta(1, 9, count), digits)
        labels = rng.random(count) < scores
        weights = rng.lognormal(0, 2, count) if weighted else None
        other = np.clip(scores + rng.normal(0, 0.03, count), 0, 1) if baseline else None
        return check_columns(ids, labels, scores, weights, other)[0]

    return make

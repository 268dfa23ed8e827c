"""Checks of labels, predictions and weights, and codes of users."""

import numpy as np
import pytest

from components.metrics.columns import PredictionsError, check_columns, encode_users

USERS = np.array([0, 0, 1])


@pytest.mark.parametrize(
    ("ids", "distinct"),
    [
        (["7", "007"], 2),
        (["U1", "u1"], 2),
        (["\u00e9", "e\u0301"], 2),
        ([2**53, 2**53 + 1], 2),
        (np.array([2**53, 2**53 + 1]), 2),
        ([b"a", b"a"], 1),
    ],
)
def test_ids_are_compared_as_written(ids, distinct):
    assert len(set(encode_users(ids).tolist())) == distinct


def test_absent_and_empty_ids_are_no_user():
    assert encode_users([None, "", b"", "0"]).tolist() == [-1, -1, -1, 3]


@pytest.mark.parametrize(
    ("labels", "scores", "weights", "message"),
    [
        ([0, 2, 1], [0.1, 0.2, 0.3], None, "row 2: label must be 0 or 1, got 2"),
        ([0, 0.5, 1], [0.1, 0.2, 0.3], None, "row 2: label must be 0 or 1, got 0.5"),
        ([0, 1, 1], [0.1, 0.2, np.nan], None, "row 3: prediction must be a finite"),
        ([0, 1, 1], [np.inf, 0.2, 0.1], None, "row 1: prediction must be a finite"),
        ([0, 1, 1], [0.1, 0.2, 0.3], [1, -1, 1], "row 2: weight .* got -1.0"),
        ([0, 1, 1], [0.1, 0.2, 0.3], [np.nan, 1, 1], "row 1: weight .* got nan"),
        (
            [0, 1, 1],
            [1e200, 0.2, 0.3],
            None,
            "predictions as large as 1e.200, .* scale",
        ),
        ([0, 1, 1], [0.1, 0.2, 0.3], [1e160, 1, 1], "weights that sum to 1e.160"),
        ([0, 1, 1], [0.1, 0.2, 0.3], [1e-163, 0, 0], "sum to 1e-163: .*scale them up"),
    ],
)
def test_bad_values_are_refused_with_row_and_value(labels, scores, weights, message):
    with pytest.raises(PredictionsError, match=message) as caught:
        check_columns(USERS, labels, scores, weights)
    assert caught.value.exit_code == 2


def test_rows_of_weight_zero_are_removed_first():
    columns, _ = check_columns(USERS, [0, 1, 9], [0.1, 0.2, np.nan], [1, 2, 0])
    assert len(columns) == 2
    assert columns.weights.tolist() == [1, 2]

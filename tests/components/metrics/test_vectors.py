"""The shared vectors: values computed elsewhere with exact arithmetic."""

import json

import numpy as np
import pytest

from components.metrics.columns import PredictionsError, check_columns, encode_users
from components.metrics.slice_metrics import evaluate_rows


@pytest.fixture
def vectors(shared_dir):
    return json.loads((shared_dir / "vectors/gauc_vectors.json").read_text())["vectors"]


def evaluate(vector, user_weight, weighted):
    weights = vector["weights"] if weighted else None
    columns, _ = check_columns(
        encode_users(vector["users"]),
        np.array(vector["labels"]),
        [float(one) for one in vector["preds"]],
        None if weights is None else [float(one) for one in weights],
    )
    return evaluate_rows(columns, user_weight)


def test_all_vectors(vectors):
    assert len(vectors) >= 33
    for vector in vectors:
        expected = vector["expected"]
        if expected["policy"] == "refuse":
            with pytest.raises(PredictionsError, match="row"):
                evaluate(vector, "impressions", True)
            continue
        plain = evaluate(vector, "impressions", False)
        weighted = evaluate(vector, "weight", True)
        pairs = [
            (plain.metrics["gauc"], expected["gauc_by_rows"]),
            (plain.metrics["auc"], expected["auc_pooled"]),
            (plain.metrics["pcop"], expected["pcop_unweighted"]),
            (weighted.metrics["pcop"], expected["pcop_weighted"]),
            (weighted.metrics["gauc"], expected["gauc_weighted_auc_by_weight_sum"]),
        ]
        for user_weight in ("clicks", "users"):
            metrics = evaluate(vector, user_weight, False).metrics
            pairs.append((metrics["gauc"], expected[f"gauc_by_{user_weight}"]))
        for found, value in pairs:
            assert found.value == pytest.approx(value, abs=1e-9), vector["id"]
            assert (found.reason is None) == (value is not None)
        counts = plain.counts
        assert (counts.users, counts.users_scored) == (
            expected["users"],
            expected["users_scored"],
        )

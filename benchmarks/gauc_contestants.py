"""Ways to compute GAUC that the speed benchmark compares, and their input."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from components.metrics.columns import Columns
from components.metrics.ranking import rank
from components.metrics.slice_metrics import evaluate_rows
from components.metrics.user_sums import user_sums

CLICK_RATE = 0.05


def write_rows(rows: int, users: int, folder: Path) -> None:
    """Draws the input and writes a file a column.

    Args:
        rows: number of rows.
        users: number of users.
        folder: where ``users.npy``, ``labels.npy`` and ``scores.npy`` go.
    """
    rng = np.random.default_rng(0)
    np.save(folder / "users.npy", rng.integers(0, users, rows))
    np.save(folder / "labels.npy", rng.random(rows) < CLICK_RATE)
    np.save(folder / "scores.npy", rng.random(rows))


def read_rows(folder: Path) -> Columns:
    """Reads what :func:`write_rows` wrote."""
    names = ("users", "labels", "scores")
    return Columns(*(np.load(folder / f"{name}.npy") for name in names))


def gauc(columns: Columns) -> float:
    """GAUC alone."""
    users = user_sums(rank(columns, columns.scores), "impressions")
    scored = users.scored
    return float(np.average(users.auc[scored], weights=users.mass[scored]))


def evaluate(columns: Columns) -> float | None:
    """Every metric with its interval; returns GAUC."""
    return evaluate_rows(columns, "impressions").metrics["gauc"].value


def by_group(columns: Columns) -> float:
    """GAUC by pandas groups and scikit-learn's AUC, as it is usually written."""
    frame = pd.DataFrame(
        {"user": columns.users, "label": columns.labels, "score": columns.scores}
    )
    total = weight = 0.0
    for _, rows in frame.groupby("user"):
        if 0 < rows["label"].sum() < len(rows):
            total += len(rows) * roc_auc_score(rows["label"], rows["score"])
            weight += len(rows)
    return total / weight


def sort_alone(columns: Columns) -> None:
    """The sort by user and score that GAUC is usually built on, and nothing else."""
    np.lexsort((columns.scores, columns.users))


CONTESTANTS: dict[str, Callable[[Columns], float | None]] = {
    "gauc": gauc,
    "evaluate_rows": evaluate,
    "pandas+sklearn": by_group,
    "lexsort": sort_alone,
}
OURS = ("gauc", "evaluate_rows")

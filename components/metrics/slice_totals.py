"""First pass over a slice: sums over all users, and the values they give."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from components.metrics.model_totals import ModelTotals, ModelValues, model_values
from components.metrics.pooled import AucTerms, Pooled
from components.metrics.results import Counts

# Bins of the distribution of AUC over users.
AUC_BINS = 20


class SliceTotals:
    """What the first pass adds up.

    Attributes:
        counts: rows, clicks and users.
        models: totals of the candidate, and of the baseline where there is one.
        auc_counts: int64 [bins], users scored by AUC.
    """

    def __init__(self) -> None:
        """Makes empty totals."""
        self.counts = Counts()
        self.models: list[ModelTotals] = []
        self.auc_counts = np.zeros(AUC_BINS, np.int64)

    def merge(self, other: "SliceTotals", score_limit: int | None = None) -> None:
        """Adds the totals of other users.

        Args:
            other: totals with the same models.
            score_limit: about how many distinct scores to hold a model; None for all.
        """
        self.counts += other.counts
        self.auc_counts = self.auc_counts + other.auc_counts
        if not self.models:
            self.models = [ModelTotals() for _ in other.models]
        for mine, theirs in zip(self.models, other.models, strict=bool(other.models)):
            mine.merge(theirs, score_limit)

    def compact(self, score_limit: int | None = None) -> None:
        """Joins the clicks by score of all parts.

        Args:
            score_limit: most distinct scores to keep a model, or None for all.
        """
        for model in self.models:
            model.compact(score_limit)

    def values(self) -> "SliceValues":
        """Metrics of each model; the totals are complete and compacted."""
        return SliceValues(
            self.counts,
            [model_values(model) for model in self.models],
            self.auc_counts.tolist(),
        )

    def auc_terms(self) -> list[AucTerms | None]:
        """What each row adds to the error of each model's pooled AUC."""
        return [Pooled(model.histogram).auc_terms() for model in self.models]


@dataclasses.dataclass(frozen=True, slots=True)
class SliceValues:
    """What is left of totals once all users are in: small, whatever the rows.

    Attributes:
        counts: rows, clicks and users.
        models: metrics of the candidate, and of the baseline where there is one.
        auc_counts: users scored by AUC.
    """

    counts: Counts
    models: list[ModelValues]
    auc_counts: list[int]

    def user_auc(self) -> dict[str, Any]:
        """The distribution of AUC over users, for drawing."""
        edges = np.linspace(0.0, 1.0, AUC_BINS + 1).tolist()
        return {"edges": edges, "users": self.auc_counts}


def merged_totals(
    parts: Iterable[SliceTotals], score_limit: int | None = None
) -> SliceTotals:
    """Adds totals of different users and compacts them.

    Args:
        parts: totals with the same models.
        score_limit: most distinct scores to keep a model, or None for all.

    Returns:
        Their sum.
    """
    total = SliceTotals()
    for part in parts:
        total.merge(part, score_limit)
    total.compact(score_limit)
    return total

"""One slice's metrics as an accumulator: add, merge, result."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from components.metrics.columns import Columns
from components.metrics.model_sums import ModelSums, PairedSums
from components.metrics.names import UserWeight
from components.metrics.results import Counts, SliceKey, SliceResult
from components.metrics.score_histogram import ScoreHistogram
from components.metrics.user_sums import UserSums, user_sums


class SliceAccumulator:
    """Metrics of one slice, of one model or of a candidate with its baseline.

    Sums over users are exact, so the result does not depend on the order of rows, or on
    how users were dealt to accumulators. All rows of a user must be in one ``add``.
    """

    def __init__(
        self, user_weight: UserWeight = "impressions", score_limit: int | None = None
    ) -> None:
        """Makes an empty accumulator.

        Args:
            user_weight: what a user weighs in GAUC.
            score_limit: most distinct scores to hold for the pooled metrics.
        """
        self._user_weight = user_weight
        self._score_limit = score_limit
        self._counts = Counts()
        self._candidate = ModelSums()
        self._baseline: ModelSums | None = None
        self._paired = PairedSums()

    def add(self, columns: Columns) -> None:
        """Adds rows.

        Args:
            columns: checked rows; each user's rows must all be among them.
        """
        candidate = self._add_model(self._candidate, columns, columns.scores)
        scored = candidate.known & np.isfinite(candidate.auc)
        self._counts += Counts(
            rows=len(columns),
            clicks=int(candidate.clicks.sum()),
            users=int(candidate.known.sum()),
            users_scored=int(scored.sum()),
            rows_scored=int(candidate.rows[scored].sum()),
            rows_without_user=int((~candidate.known).sum()),
        )
        if columns.baseline is not None:
            self._baseline = self._baseline or ModelSums()
            baseline = self._add_model(self._baseline, columns, columns.baseline)
            self._paired.add(candidate, baseline)

    def merge(self, other: "SliceAccumulator") -> None:
        """Adds an accumulator of other users.

        Args:
            other: accumulator with the same settings.
        """
        self._counts += other._counts
        self._candidate.merge(other._candidate)
        if other._baseline is not None:
            self._baseline = self._baseline or ModelSums()
            self._baseline.merge(other._baseline)
        self._paired.merge(other._paired)

    def compact(self) -> None:
        """Shrinks the state before it is stored or sent."""
        self._candidate.compact()
        if self._baseline is not None:
            self._baseline.compact()

    def result(self, key: SliceKey = (), user_declared: bool = True) -> SliceResult:
        """Computes the metrics.

        Args:
            key: name and value of each feature of the slice.
            user_declared: whether the data names a user id column.

        Returns:
            The metrics, and those of the baseline with the change when there is one.
        """
        counts = dataclasses.replace(
            self._counts, rows_outside_unit=self._candidate.rows_outside_unit
        )
        metrics = self._candidate.estimates(counts, user_declared)
        if self._baseline is None:
            return SliceResult(dict(key), counts, metrics)
        baseline = self._baseline.estimates(counts, user_declared)
        delta = self._paired.changes(metrics, baseline)
        outside = self._baseline.rows_outside_unit
        return SliceResult(dict(key), counts, metrics, baseline, outside, delta)

    def _add_model(
        self, sums: ModelSums, columns: Columns, scores: NDArray[np.float64]
    ) -> UserSums:
        """Adds the rows under one model's scores and returns its per-user sums."""
        users = user_sums(columns, scores, self._user_weight)
        histogram = ScoreHistogram.of(
            scores, columns.labels, columns.weights, self._score_limit
        )
        sums.add(users, histogram)
        sums.rows_outside_unit += int(((scores < 0) | (scores > 1)).sum())
        return users

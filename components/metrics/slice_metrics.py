"""One slice's metrics in two passes: totals over all users, then each user's error.

All rows of a user must be in one part; users may be dealt to parts in any way. Sums over
users are exact, so the result depends neither on the order of rows nor on the parts.
"""

from collections.abc import Sequence

import numpy as np

from components.metrics.columns import Columns
from components.metrics.estimates import LOG_PCOP_SUM, changes_of, estimates_of
from components.metrics.influence import influences
from components.metrics.intervals import ErrorSums
from components.metrics.model_totals import ModelTotals
from components.metrics.names import UserWeight
from components.metrics.pooled import AucTerms, Pooled
from components.metrics.ranking import Ranking, rank
from components.metrics.results import Counts, SliceKey, SliceResult
from components.metrics.slice_totals import AUC_BINS, SliceTotals, SliceValues
from components.metrics.user_sums import Floats, UserSums, user_sums


class SliceErrors:
    """What the second pass adds up: squares of the users' errors by metric.

    Attributes:
        models: error sums by metric of the candidate, and of the baseline.
        change: error sums by metric of candidate less baseline.
    """

    def __init__(self) -> None:
        """Makes empty sums."""
        self.models: list[dict[str, ErrorSums]] = []
        self.change: dict[str, ErrorSums] = {}

    def merge(self, other: "SliceErrors") -> None:
        """Adds the errors of other users."""
        if not self.models:
            self.models = [{} for _ in other.models]
        pairs = [*zip(self.models, other.models, strict=bool(other.models))]
        for mine, theirs in [*pairs, (self.change, other.change)]:
            for name, sums in theirs.items():
                mine.setdefault(name, ErrorSums()).merge(sums)


class Part:
    """Rows of some users of a slice, sorted once for both passes."""

    def __init__(self, columns: Columns, user_weight: UserWeight) -> None:
        """Sorts the rows under each model.

        Args:
            columns: checked rows; each user's rows must all be among them.
            user_weight: what a user weighs in GAUC.
        """
        self._columns = columns
        self._user_weight = user_weight
        scores = [columns.scores, columns.baseline]
        self._scores = [one for one in scores if one is not None]
        self._rankings: list[Ranking] = [rank(columns, one) for one in self._scores]

    def totals(self, sums: list[UserSums] | None = None) -> SliceTotals:
        """First pass over these users.

        Args:
            sums: their sums by user under each model, when they are at hand.

        Returns:
            Their totals.
        """
        sums = sums or [user_sums(one, self._user_weight) for one in self._rankings]
        users = sums[0]
        scored = users.scored
        totals = SliceTotals()
        totals.counts = Counts(
            rows=len(self._columns),
            clicks=int(users.clicks.sum()),
            users=int(users.known.sum()),
            users_scored=int(scored.sum()),
            rows_scored=int(users.rows[scored].sum()),
            rows_without_user=int((~users.known).sum()),
        )
        bins = np.minimum(users.auc[scored] * AUC_BINS, AUC_BINS - 1)
        totals.auc_counts = np.bincount(bins.astype(np.int64), minlength=AUC_BINS)
        totals.models = [
            ModelTotals.of(self._columns, scores, one, ranking.histogram)
            for scores, one, ranking in zip(
                self._scores, sums, self._rankings, strict=True
            )
        ]
        return totals

    def errors(
        self, values: SliceValues, terms: Sequence[AucTerms | None]
    ) -> SliceErrors:
        """Second pass over these users.

        Args:
            values: metrics of the whole slice.
            terms: what each row adds to the error of its pooled AUC, by model.

        Returns:
            The users' squared errors.
        """
        sums = []
        for ranking, one in zip(self._rankings, terms, strict=True):
            at = None if one is None else one.at(ranking.histogram.scores)
            sums.append(user_sums(ranking, self._user_weight, at))
        return errors_of(sums, values)

    def both(self) -> tuple[SliceValues, SliceErrors]:
        """Both passes at once, where these users are the whole slice."""
        sums = []
        for ranking in self._rankings:
            terms = Pooled(ranking.histogram).auc_terms()
            at = None if terms is None else (terms.for_click, terms.for_other)
            sums.append(user_sums(ranking, self._user_weight, at))
        values = self.totals(sums).values()
        return values, errors_of(sums, values)


def errors_of(sums: list[UserSums], values: SliceValues) -> SliceErrors:
    """Squares each user's error of each metric.

    Args:
        sums: sums by user under each model.
        values: metrics of the whole slice.

    Returns:
        The sums of squares, of each model and of their difference.
    """
    errors = SliceErrors()
    by_model = [
        influences(users, model)
        for users, model in zip(sums, values.models, strict=True)
    ]
    errors.models = [
        {name: _squared(terms) for name, terms in model.items()} for model in by_model
    ]
    if len(by_model) == 2:
        candidate, baseline = by_model
        errors.change = {
            name: _squared(terms - baseline[name])
            for name, terms in candidate.items()
            if name in baseline
        }
        if "log_pcop" in errors.change:
            # Distances from 0 on either side of it change by the sum of both values.
            errors.change[LOG_PCOP_SUM] = _squared(
                candidate["log_pcop"] + baseline["log_pcop"]
            )
    return errors


def slice_result(
    values: SliceValues,
    errors: SliceErrors,
    key: SliceKey = (),
    user_declared: bool = True,
) -> SliceResult:
    """Puts the metrics of a slice together.

    Args:
        values: metrics of the whole slice.
        errors: of all its users.
        key: name and value of each feature of the slice.
        user_declared: whether the data names a user id column.

    Returns:
        The metrics, and those of the baseline with the change when there is one.
    """
    counts = values.counts
    estimates = [
        estimates_of(model, sums, counts, user_declared)
        for model, sums in zip(values.models, errors.models, strict=True)
    ]
    baseline = delta = None
    if len(estimates) == 2:
        baseline = estimates[1]
        delta = changes_of(estimates[0], baseline, errors.change)
    candidate = values.models[0]
    return SliceResult(
        dict(key),
        counts,
        estimates[0],
        baseline,
        delta,
        weight=candidate.weight,
        click_weight=candidate.clicks,
        predicted=candidate.predicted,
        outside_unit=candidate.outside_unit,
        calibration=tuple(one.to_json() for one in candidate.calibration),
        curves=candidate.curves | {"user_auc": values.user_auc()},
    )


def evaluate_rows(
    columns: Columns,
    user_weight: UserWeight = "impressions",
    key: SliceKey = (),
    user_declared: bool = True,
) -> SliceResult:
    """Computes the metrics of rows that are at hand.

    Args:
        columns: checked rows of one slice.
        user_weight: what a user weighs in GAUC.
        key: name and value of each feature of the slice.
        user_declared: whether the data names a user id column.

    Returns:
        The metrics.
    """
    values, errors = Part(columns, user_weight).both()
    return slice_result(values, errors, key, user_declared)


def _squared(terms: Floats) -> ErrorSums:
    """Exact sums of powers of some users' errors."""
    sums = ErrorSums()
    sums.add(terms)
    return sums

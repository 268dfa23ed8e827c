"""Results of one slice: typed values, their JSON form, and their flat form for TFMA."""

import dataclasses
from typing import Any

from components.metrics.intervals import Interval

SIGN_UNRESOLVED = "sign unresolved"

SliceKey = tuple[tuple[str, str | int | float], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """A metric's value, or why there is none.

    Attributes:
        value: the value, or None where the metric is undefined.
        ci95: ends of the 95 % interval, or None where there is none.
        reason: why the value is undefined; None when it is defined.
    """

    value: float | None
    ci95: Interval | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the value, interval and reason as JSON types."""
        ends = None if self.ci95 is None else list(self.ci95)
        return {"value": self.value, "ci95": ends, "reason": self.reason}


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """What a slice holds, after rows of weight 0 were removed.

    Attributes:
        rows: number of rows.
        clicks: number of rows with a click.
        users: number of distinct user ids.
        users_scored: users with a click and a non-click.
        rows_scored: rows of the users scored.
        rows_without_user: rows without a user id; no part of GAUC.
        rows_outside_unit: predictions outside [0, 1].
    """

    rows: int = 0
    clicks: int = 0
    users: int = 0
    users_scored: int = 0
    rows_scored: int = 0
    rows_without_user: int = 0
    rows_outside_unit: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Adds the counts of other rows and users."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        return Counts(*(one + two for one, two in pairs))


@dataclasses.dataclass(frozen=True, slots=True)
class SliceResult:
    """All metrics of one slice.

    Attributes:
        slice: value of each feature of the slice; empty for all rows.
        counts: rows, clicks and users.
        metrics: estimate of each name in ``METRICS``.
        baseline: the same of the baseline, or None without one.
        baseline_outside_unit: baseline's predictions outside [0, 1].
        delta: estimate of candidate less baseline, or None without a baseline.
    """

    slice: dict[str, str | int | float]
    counts: Counts
    metrics: dict[str, Estimate]
    baseline: dict[str, Estimate] | None = None
    baseline_outside_unit: int = 0
    delta: dict[str, Estimate] | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the slice as the JSON object that ``ctr evaluate --json`` prints."""
        counts = dataclasses.asdict(self.counts)
        content: dict[str, Any] = {"slice": dict(self.slice)} | {
            name: counts[name] for name in ("rows", "clicks", "users", "users_scored")
        }
        content["rows_scored"] = counts["rows_scored"]
        content["rows_without_user"] = counts["rows_without_user"]
        for name in ("metrics", "baseline", "delta"):
            estimates = getattr(self, name)
            if estimates is not None:
                content[name] = {key: one.to_json() for key, one in estimates.items()}
        return content


def sort_slices(results: list[SliceResult]) -> list[SliceResult]:
    """Orders slices: all rows first, then by features, then by values.

    Args:
        results: slices in any order.

    Returns:
        The same slices in an order that depends on their keys only.
    """

    def key(result: SliceResult) -> tuple[Any, ...]:
        values = [
            (isinstance(value, str), 0 if isinstance(value, str) else value, str(value))
            for value in result.slice.values()
        ]
        return len(result.slice), tuple(result.slice), tuple(values)

    return sorted(results, key=key)


def undefined_reason(name: str, counts: Counts, user_declared: bool = True) -> str:
    """Says why a metric of a slice has no value.

    Args:
        name: the metric.
        counts: what the slice holds.
        user_declared: whether the data names a user id column.

    Returns:
        The first rule that fails, in words.
    """
    outside = counts.rows_outside_unit
    probabilities = name in ("log_loss", "normalized_entropy", "ece")
    rules = (
        (name == "gauc" and not user_declared, "no user id declared"),
        (counts.rows == 0, "no rows of positive weight"),
        (probabilities and outside > 0, f"{outside} predictions lie outside [0, 1]"),
        (counts.clicks == 0 and name not in ("log_loss", "ece"), "no clicks"),
        (name == "gauc", "no user has both a click and a non-click"),
        (name == "abs_log_pcop", "predicted clicks are not positive"),
        (name in ("auc", "normalized_entropy"), "no non-clicks"),
    )
    otherwise = "the sums are too large for a float64"
    return next((reason for holds, reason in rules if holds), otherwise)

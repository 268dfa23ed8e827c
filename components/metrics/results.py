"""Results of one slice: typed values and their JSON form."""

import dataclasses
import re
from collections.abc import Mapping
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
        standard_error: on the scale on which the interval is even: of log PCOP for a
            model's ``pcop`` and ``abs_log_pcop``, else of the value (or the change)
            itself; None without one.
        effective_users: how many equal users would vary as these do; None without a
            standard error.
        notes: further numbers by name, such as how much of an error is due to chance.
    """

    value: float | None
    ci95: Interval | None = None
    reason: str | None = None
    standard_error: float | None = None
    effective_users: float | None = None
    notes: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Returns the estimate as JSON types; what there is none of is left out."""
        content: dict[str, Any] = {
            "value": self.value,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "reason": self.reason,
        }
        for name in _SPREAD:
            if getattr(self, name) is not None:
                content[name] = getattr(self, name)
        return content | dict(self.notes)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Estimate":
        """Reads what :meth:`to_json` returned."""
        rest = dict(content)
        ends = rest.pop("ci95")
        named = {name: rest.pop(name, None) for name in ("value", "reason", *_SPREAD)}
        return cls(ci95=None if ends is None else tuple(ends), notes=rest, **named)


_SPREAD = ("standard_error", "effective_users")

Estimates = dict[str, Estimate]


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
    """

    rows: int = 0
    clicks: int = 0
    users: int = 0
    users_scored: int = 0
    rows_scored: int = 0
    rows_without_user: int = 0

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
        delta: estimate of candidate less baseline, or None without a baseline.
        weight: weight of the rows.
        click_weight: weight of the clicks.
        predicted: predicted clicks, the sum of weight times prediction.
        outside_unit: predictions outside [0, 1].
        calibration: buckets of equal weight, as rates; see ``calibration_error.Bucket.to_json``.
        field_calibration_error: for each column that slices name, how far predicted
            and observed clicks of its values lie apart; of all rows only.
        curves: points for drawing, or None.
    """

    slice: dict[str, str | int | float]
    counts: Counts
    metrics: Estimates
    baseline: Estimates | None = None
    delta: Estimates | None = None
    weight: float = 0.0
    click_weight: float = 0.0
    predicted: float = 0.0
    outside_unit: int = 0
    calibration: tuple[dict[str, float], ...] = ()
    field_calibration_error: dict[str, float] | None = None
    curves: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the slice as the JSON object that ``ctr evaluate --json`` prints."""
        content: dict[str, Any] = {"slice": dict(self.slice)}
        content |= dataclasses.asdict(self.counts)
        content |= {name: getattr(self, name) for name in _SUMS}
        for name in _ESTIMATES:
            estimates = getattr(self, name)
            if estimates is not None:
                content[name] = {key: one.to_json() for key, one in estimates.items()}
        content["calibration"] = [dict(bucket) for bucket in self.calibration]
        for name in _OPTIONAL:
            if getattr(self, name) is not None:
                content[name] = getattr(self, name)
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "SliceResult":
        """Reads what :meth:`to_json` returned."""
        counts = {
            field.name: content[field.name] for field in dataclasses.fields(Counts)
        }
        values: dict[str, Any] = {name: content[name] for name in _SUMS}
        values |= {name: content.get(name) for name in _OPTIONAL}
        values |= {
            name: {key: Estimate.from_json(one) for key, one in content[name].items()}
            for name in _ESTIMATES
            if name in content
        }
        return cls(
            slice=dict(content["slice"]),
            counts=Counts(**counts),
            calibration=tuple(content["calibration"]),
            **values,
        )


_SUMS = ("weight", "click_weight", "predicted", "outside_unit")
_ESTIMATES = ("metrics", "baseline", "delta")
_OPTIONAL = ("field_calibration_error", "curves")


def sort_slices(results: list[SliceResult]) -> list[SliceResult]:
    """Orders slices: all rows first, then by features, then by values, 9 before 10.

    Args:
        results: slices in any order.

    Returns:
        The same slices in an order that depends on their keys only.
    """

    def key(result: SliceResult) -> tuple[Any, ...]:
        values = [_in_order(value) for value in result.slice.values()]
        return len(result.slice), tuple(result.slice), tuple(values)

    return sorted(results, key=key)


def _in_order(value: Any) -> tuple[bool, float, str]:
    """Sort key of a value: numbers by size, also those written as text, then text."""
    text = str(value)
    is_number = re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]+)?", text) is not None
    return not is_number, float(text) if is_number else 0.0, text


def with_field_errors(results: list[SliceResult]) -> list[SliceResult]:
    """Adds to the slice of all rows the calibration error over each column's values.

    It is the weighted mean over the values of a column of |mean prediction - click
    rate|: rows of one device may be over and those of another under, and PCOP over all
    rows be 1.

    Args:
        results: all slices, sorted.

    Returns:
        The same slices, the first one completed. A column whose values were not all
        reported (the largest only, or those of enough rows) has no such error.

    References:
        Pan et al., Field-aware calibration: a simple and empirically strong method for
        reliable probabilistic predictions, 2020 (Field-ECE).
    """
    if not results or results[0].slice:
        return results
    errors = {}
    for name in sorted({name for one in results for name in one.slice}):
        parts = [one for one in results if tuple(one.slice) == (name,)]
        weight = sum(one.weight for one in parts)
        complete = weight > 0 and weight >= results[0].weight * (1 - 1e-9)
        if complete and not any(one.outside_unit for one in parts):
            gaps = sum(abs(one.predicted - one.click_weight) for one in parts)
            errors[name] = gaps / weight
    if not errors:
        return results
    first = dataclasses.replace(results[0], field_calibration_error=errors)
    return [first, *results[1:]]


def undefined_reason(
    name: str, counts: Counts, outside_unit: int = 0, user_declared: bool = True
) -> str:
    """Says why a metric of a slice has no value.

    Args:
        name: the metric.
        counts: what the slice holds.
        outside_unit: predictions outside [0, 1].
        user_declared: whether the data names a user id column.

    Returns:
        The first rule that fails, in words.
    """
    probabilities = name in ("log_loss", "normalized_entropy", "ece")
    rules = (
        (name == "gauc" and not user_declared, "no user id declared"),
        (counts.rows == 0, "no rows of positive weight"),
        (
            probabilities and outside_unit > 0,
            f"{outside_unit} predictions lie outside [0, 1]",
        ),
        (counts.clicks == 0 and name not in ("log_loss", "ece"), "no clicks"),
        (name == "gauc", "no user has both a click and a non-click"),
        (name == "abs_log_pcop", "predicted clicks are not positive"),
        (name in ("auc", "normalized_entropy"), "no non-clicks"),
    )
    otherwise = "the sums are too large for a float64"
    return next((reason for holds, reason in rules if holds), otherwise)

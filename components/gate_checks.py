"""One bound held against one slice, and how its status comes about."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from components.gate_intervals import (
    SliceValues,
    calibration_intervals,
    change_interval,
    change_of,
    values_of,
)
from components.gate_status import OF_VALUES, Status, by_interval, by_value
from components.gates_config import HIGHER_IS_BETTER, ChangeBounds
from components.metrics.intervals import Interval
from components.metrics.results import SliceResult

Against = Literal["baseline", "reference"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One bound held against one slice.

    Attributes:
        metric: name of the metric.
        slice: the slice; empty for all rows.
        kind: ``min``, ``max``, ``min_change``, ``max_change`` or ``non_inferior``.
        bound: the bound.
        against: the model that a change is measured against; None for a value.
        value: the value, or change, that was measured; None where undefined.
        interval: ends that were held against the bound; None where the value was.
        rows: rows of the slice.
        clicks: clicks of the slice.
        status: ``skipped`` checks have no say; ``undecided`` ones do not bless.
        allowed: an undecided check that does not withhold the blessing.
        reason: why the check did not pass; None when it did.
    """

    metric: str
    slice: dict[str, str | int | float]
    kind: str
    bound: float
    against: Against | None
    value: float | None
    interval: Interval | None
    rows: int
    clicks: int
    status: Status
    allowed: bool
    reason: str | None

    def to_json(self) -> dict[str, Any]:
        """Returns the check as JSON types."""
        content = dataclasses.asdict(self)
        content["interval"] = None if self.interval is None else list(self.interval)
        return content


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What holds for all checks of one group of gates.

    Attributes:
        against: the model that changes are measured against.
        fail_undefined: whether an undefined value counts against the model.
        allow_undecided: whether an undecided check withholds no blessing.
        min_rows: smaller slices are skipped.
        min_clicks: slices with fewer clicks are skipped.
    """

    against: Against = "baseline"
    fail_undefined: bool = True
    allow_undecided: bool = False
    min_rows: int = 0
    min_clicks: int = 0

    def skips(self, result: SliceResult) -> str | None:
        """Why a slice is skipped; None where it counts."""
        if result.counts.rows < self.min_rows:
            return f"fewer than {self.min_rows:,} rows"
        if result.counts.clicks < self.min_clicks:
            return f"fewer than {self.min_clicks:,} clicks"
        return None


def group_checks(
    results: Sequence[SliceResult], metrics: Mapping[str, ChangeBounds], rules: Rules
) -> Iterator[Check]:
    """Holds slices against the same bounds.

    Args:
        results: the slices; for PCOP they are one family of tests.
        metrics: bounds by metric.
        rules: what holds for all of these checks.

    Yields:
        One check a slice, metric and bound.
    """
    counted = [result for result in results if rules.skips(result) is None]
    for metric, bounds in metrics.items():
        small = calibration_intervals(counted, metric, bounds)
        for result in results:
            for kind, bound in bounds.given().items():
                yield _check(result, metric, kind, bound, rules, small)


def _check(
    result: SliceResult,
    metric: str,
    kind: str,
    bound: float,
    rules: Rules,
    small: Mapping[SliceValues, Interval | None],
) -> Check:
    """Holds one bound against one slice."""
    of_value = kind in OF_VALUES
    estimate = result.metrics[metric] if of_value else change_of(result, metric)
    interval: Interval | None = None
    status: Status
    reason: str | None
    strict = rules.fail_undefined
    skip = rules.skips(result)
    if skip is not None:
        status, reason = "skipped", skip
    elif estimate is None and rules.against == "baseline":
        status, reason = "skipped", "no baseline"
    elif estimate is None:
        status, reason = "undecided", "no reference model was evaluated"
    elif kind == "non_inferior":
        interval = change_interval(result, metric)
        side, limit = ("min", -bound) if HIGHER_IS_BETTER[metric] else ("max", bound)
        status, reason = by_interval(estimate, interval, side, limit, strict)
    elif of_value and values_of(result) in small:
        interval = small[values_of(result)]
        status, reason = by_interval(estimate, interval, kind, bound, strict)
    else:
        status, reason = by_value(estimate, kind, bound, strict)
    return Check(
        metric=metric,
        slice=result.slice,
        kind=kind,
        bound=bound,
        against=None if of_value else rules.against,
        value=None if estimate is None else estimate.value,
        interval=interval,
        rows=result.counts.rows,
        clicks=result.counts.clicks,
        status=status,
        allowed=status == "undecided" and rules.allow_undecided,
        reason=reason,
    )


def absent_checks(
    names: Sequence[str], metrics: Mapping[str, ChangeBounds]
) -> Iterator[Check]:
    """Failed checks of a gate whose slices were not evaluated.

    Args:
        names: features of the slice.
        metrics: bounds by metric.

    Yields:
        One check a bound.
    """
    for metric, bounds in metrics.items():
        for kind, bound in bounds.given().items():
            yield Check(
                metric=metric,
                slice=dict.fromkeys(names, "*"),
                kind=kind,
                bound=bound,
                against=None if kind in OF_VALUES else "baseline",
                value=None,
                interval=None,
                rows=0,
                clicks=0,
                status="fail",
                allowed=False,
                reason="no such slice was evaluated; add it to evaluate.slices",
            )

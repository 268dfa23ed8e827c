"""The verdict on a model: bounds of the configuration against measured slices."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from components.gates_config import Bounds, GatesConfig
from components.metrics.results import Estimate, SliceResult

Status = Literal["pass", "fail", "undecided", "skipped"]

_BOUNDS = ("min", "max", "min_change", "max_change")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One bound held against one slice.

    Attributes:
        metric: name of the metric.
        slice: the slice; empty for all rows.
        kind: ``min``, ``max``, ``min_change`` or ``max_change``.
        bound: the bound.
        value: the value, or change, that was measured; None where undefined.
        rows: rows of the slice.
        clicks: clicks of the slice.
        status: ``skipped`` checks have no say; ``undecided`` ones do not bless.
        reason: why the check did not pass; None when it did.
    """

    metric: str
    slice: dict[str, str | int | float]
    kind: str
    bound: float
    value: float | None
    rows: int
    clicks: int
    status: Status
    reason: str | None

    def to_json(self) -> dict[str, Any]:
        """Returns the check as JSON types."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a model is blessed, and why.

    Attributes:
        blessed: True when no check failed or stayed undecided, and there are gates.
        reason: the verdict in one line.
        checks: every bound held against every slice it is for.
    """

    blessed: bool
    reason: str
    checks: tuple[Check, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the verdict as JSON types."""
        return {
            "blessed": self.blessed,
            "reason": self.reason,
            "checks": [check.to_json() for check in self.checks],
        }


def judge(results: Sequence[SliceResult], gates: GatesConfig) -> Verdict:
    """Holds measured slices against the gates.

    A value that is undefined over all rows fails; in a slice it is passed over, unless
    the gate says otherwise. Without a baseline, bounds on changes are passed over.

    Args:
        results: measured slices, among them the one of all rows.
        gates: the configured gates.

    Returns:
        The verdict with all checks.
    """
    if not gates.overall and not gates.slices:
        return Verdict(blessed=False, reason="not blessed: no gates configured")
    if all(result.slice for result in results):
        return Verdict(blessed=False, reason="not blessed: no rows were evaluated")
    checks = tuple(_checks(results, gates))
    counted = {
        status: sum(check.status == status for check in checks)
        for status in ("pass", "fail", "undecided", "skipped")
    }
    first_run = all(result.delta is None for result in results)
    note = "; first run: no baseline to compare with" if first_run else ""
    if counted["fail"] or counted["undecided"]:
        parts = [
            f"{counted[status]} {text}"
            for status, text in (("fail", "failed"), ("undecided", "undecided"))
            if counted[status]
        ]
        reason = f"not blessed: {' and '.join(parts)} of {len(checks)} checks{note}"
        return Verdict(blessed=False, reason=reason, checks=checks)
    reason = f"blessed: {counted['pass']} of {len(checks)} checks passed"
    if counted["skipped"]:
        reason += f", {counted['skipped']} skipped"
    return Verdict(blessed=True, reason=reason + note, checks=checks)


def _checks(results: Sequence[SliceResult], gates: GatesConfig) -> Iterator[Check]:
    """All checks: overall first, then by gate and slice."""
    for result in results:
        if not result.slice:
            for metric, bounds in gates.overall.items():
                yield from _metric_checks(result, metric, bounds, None, True)
    for gate in gates.slices:
        names = set(gate.slice)
        found = [result for result in results if set(result.slice) == names]
        if not found:
            yield from _absent(gate.slice, gate.metrics)
        for result in found:
            skip = None
            if result.counts.rows < gate.min_rows:
                skip = f"fewer than {gate.min_rows:,} rows"
            elif result.counts.clicks < gate.min_clicks:
                skip = f"fewer than {gate.min_clicks:,} clicks"
            for metric, bounds in gate.metrics.items():
                yield from _metric_checks(
                    result, metric, bounds, skip, gate.fail_undefined
                )


def _metric_checks(
    result: SliceResult,
    metric: str,
    bounds: Bounds,
    skip: str | None,
    fail_undefined: bool,
) -> Iterator[Check]:
    """The checks of one metric's bounds in one slice."""
    for kind in _BOUNDS:
        bound = getattr(bounds, kind)
        if bound is None:
            continue
        estimate = _estimate(result, metric, kind)
        status, reason = _status(estimate, kind, bound, fail_undefined)
        if skip is not None:
            status, reason = "skipped", skip
        yield Check(
            metric=metric,
            slice=result.slice,
            kind=kind,
            bound=bound,
            value=None if estimate is None else estimate.value,
            rows=result.counts.rows,
            clicks=result.counts.clicks,
            status=status,
            reason=reason,
        )


def _estimate(result: SliceResult, metric: str, kind: str) -> Estimate | None:
    """The value, or the change, that a bound is for; None without a baseline."""
    if not kind.endswith("_change"):
        return result.metrics[metric]
    return None if result.delta is None else result.delta[metric]


def _status(
    estimate: Estimate | None, kind: str, bound: float, fail_undefined: bool
) -> tuple[Status, str | None]:
    """Holds one value against one bound."""
    if estimate is None:
        return "skipped", "no baseline"
    if estimate.value is None:
        reason = f"undefined: {estimate.reason}"
        if not fail_undefined:
            return "skipped", reason
        # A change may be undefined because the data cannot tell its sign.
        return ("undecided" if kind.endswith("_change") else "fail"), reason
    if kind.startswith("min") and not estimate.value >= bound:
        return "fail", f"{estimate.value:.6g} is below {bound:g}"
    if kind.startswith("max") and not estimate.value <= bound:
        return "fail", f"{estimate.value:.6g} is above {bound:g}"
    return "pass", None


def _absent(names: Sequence[str], metrics: dict[str, Bounds]) -> Iterator[Check]:
    """A failed check for each bound of a gate whose slices were not evaluated."""
    for metric, bounds in metrics.items():
        for kind in _BOUNDS:
            bound = getattr(bounds, kind)
            if bound is not None:
                yield Check(
                    metric=metric,
                    slice=dict.fromkeys(names, "*"),
                    kind=kind,
                    bound=bound,
                    value=None,
                    rows=0,
                    clicks=0,
                    status="fail",
                    reason="no such slice was evaluated; add it to the slices",
                )

"""The verdict on a model: bounds of the configuration against measured slices."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from components.gate_checks import Check, Rules, absent_checks, group_checks
from components.gates_config import GatesConfig
from components.metrics.results import SliceResult


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a model is blessed, and why.

    Attributes:
        blessed: True when there are gates, some check could be made, and none failed
            or stayed undecided where that is not allowed.
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


def judge(
    results: Sequence[SliceResult],
    gates: GatesConfig,
    reference_results: Sequence[SliceResult] | None = None,
) -> Verdict:
    """Holds measured slices against the gates.

    A value that is undefined over all rows fails; in a slice it is passed over, unless
    the gate says otherwise. Without a baseline, bounds on changes are passed over; when
    nothing else is left to check, the model is not blessed unless the gates say so.

    Args:
        results: measured slices, among them the one of all rows.
        gates: the configured gates.
        reference_results: the same of the candidate beside the pinned reference.

    Returns:
        The verdict with all checks.
    """
    if not (gates.overall or gates.slices or gates.reference):
        return Verdict(blessed=False, reason="not blessed: no gates configured")
    if all(result.slice for result in results):
        return Verdict(blessed=False, reason="not blessed: no rows were evaluated")
    checks = (
        *_checks(results, gates),
        *_reference_checks(results, gates, reference_results),
    )
    first_run = all(result.delta is None for result in results)
    blessed, reason = _summary(checks, first_run, gates.bless_first)
    if first_run:
        reason += "; first run: no baseline to compare with"
    return Verdict(blessed=blessed, reason=reason, checks=checks)


def _summary(
    checks: Sequence[Check], first_run: bool, bless_first: bool
) -> tuple[bool, str]:
    """Whether the checks bless, and the reason."""
    counted = Counter(check.status for check in checks)
    allowed = sum(check.allowed for check in checks)
    against = (
        (counted["fail"], "failed"),
        (counted["undecided"] - allowed, "undecided"),
    )
    parts = [f"{count} {text}" for count, text in against if count]
    if parts:
        return False, f"not blessed: {' and '.join(parts)} of {len(checks)} checks"
    if counted["skipped"] == len(checks):
        none = f"no check could be made, all {len(checks)} were skipped"
        if not first_run:
            return False, f"not blessed: {none}; add a gate over all rows"
        if not bless_first:
            return False, (
                f"not blessed: {none}; add a bound on a value, or bless the first model "
                "with gates.bless_first"
            )
        return True, f"blessed by gates.bless_first: {none}"
    reason = f"blessed: {counted['pass']} of {len(checks)} checks passed"
    if allowed:
        reason += f", {allowed} undecided, which is allowed"
    if counted["skipped"]:
        reason += f", {counted['skipped']} skipped"
    return True, reason


def _checks(results: Sequence[SliceResult], gates: GatesConfig) -> Iterator[Check]:
    """Checks of values and against the baseline: overall first, then by gate."""
    overall = [result for result in results if not result.slice]
    rules = Rules(allow_undecided=gates.allow_undecided)
    yield from group_checks(overall, gates.overall, rules)
    for gate in gates.slices:
        names = set(gate.slice)
        found = [result for result in results if set(result.slice) == names]
        if not found:
            yield from absent_checks(gate.slice, gate.metrics)
        rules = Rules(
            fail_undefined=gate.fail_undefined,
            allow_undecided=gate.allow_undecided,
            min_rows=gate.min_rows,
            min_clicks=gate.min_clicks,
        )
        yield from group_checks(found, gate.metrics, rules)


def _reference_checks(
    results: Sequence[SliceResult],
    gates: GatesConfig,
    reference_results: Sequence[SliceResult] | None,
) -> Iterator[Check]:
    """Checks against the pinned reference, over all rows."""
    overall = [
        result
        if reference_results is not None
        # The baseline of the first evaluation is another model.
        else dataclasses.replace(result, delta=None, baseline=None)
        for result in (results if reference_results is None else reference_results)
        if not result.slice
    ]
    rules = Rules(against="reference", allow_undecided=gates.reference_allow_undecided)
    yield from group_checks(overall, gates.reference, rules)

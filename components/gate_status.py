"""The status of one check: a value or an interval held against a bound."""

from typing import Literal

from components.metrics.intervals import FEWEST_USERS, Interval
from components.metrics.results import SIGN_UNRESOLVED, Estimate

Status = Literal["pass", "fail", "undecided", "skipped"]

OF_VALUES = ("min", "max")


def by_value(
    estimate: Estimate, kind: str, bound: float, fail_undefined: bool
) -> tuple[Status, str | None]:
    """Holds a value, or a change, against a bound as it was measured.

    Args:
        estimate: the value or change.
        kind: kind of the bound, which names its side.
        bound: the bound; itself it passes.
        fail_undefined: whether an undefined value counts against the model.

    Returns:
        The status, and why it is no pass.
    """
    if estimate.value is None:
        return _undefined(estimate, kind, fail_undefined)
    if kind.startswith("min") and not estimate.value >= bound:
        return "fail", f"{estimate.value:.6g} is below {bound:g}"
    if kind.startswith("max") and not estimate.value <= bound:
        return "fail", f"{estimate.value:.6g} is above {bound:g}"
    return "pass", None


def by_interval(
    estimate: Estimate,
    interval: Interval | None,
    kind: str,
    bound: float,
    fail_undefined: bool,
) -> tuple[Status, str | None]:
    """Holds an interval against a bound: to pass, it lies wholly on the right side.

    Args:
        estimate: the value or change that the interval is of.
        interval: its ends, or None.
        kind: kind of the bound, which names its side.
        bound: the bound.
        fail_undefined: whether an undefined value counts against the model.

    Returns:
        The status, and why it is no pass.
    """
    if interval is None and estimate.value is None:
        return _undefined(estimate, "non_inferior", fail_undefined)
    value = "" if estimate.value is None else f"{estimate.value:.6g}, "
    if interval is None:
        return "undecided", f"{value}{_no_interval(estimate)}"
    low, high = interval
    inside, outside = (
        (low >= bound, high < bound) if kind == "min" else (high <= bound, low > bound)
    )
    if inside:
        return "pass", None
    where = "below" if kind == "min" else "above"
    text = f"{value}interval {low:.4g} to {high:.4g}"
    if outside:
        return "fail", f"{text} is wholly {where} {bound:g}"
    return "undecided", f"{text} reaches {where} {bound:g}"


def _no_interval(estimate: Estimate) -> str:
    """Why an estimate has no interval."""
    if estimate.standard_error is None or estimate.effective_users is None:
        return "no standard error"
    return (
        f"no interval: {estimate.effective_users:.1f} effective users, "
        f"fewer than {FEWEST_USERS:g}"
    )


def _undefined(
    estimate: Estimate, kind: str, fail_undefined: bool
) -> tuple[Status, str]:
    """The status of a value that does not exist."""
    reason = f"undefined: {estimate.reason}"
    if estimate.reason == SIGN_UNRESOLVED:
        return "undecided", reason
    if not fail_undefined:
        return "skipped", reason
    return ("fail" if kind in OF_VALUES else "undecided"), reason

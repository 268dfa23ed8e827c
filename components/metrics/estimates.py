"""Values and error sums put together: estimates with intervals and reasons."""

import dataclasses
import math
from collections.abc import Mapping

from components.metrics.intervals import ErrorSums, Interval, t_interval
from components.metrics.model_totals import ModelValues
from components.metrics.names import METRICS
from components.metrics.results import (
    SIGN_UNRESOLVED,
    Counts,
    Estimate,
    Estimates,
    undefined_reason,
)

_LARGEST_LOG = 700.0
# Name of the errors of log PCOP of the candidate plus that of the baseline.
LOG_PCOP_SUM = "log_pcop_sum"


def estimates_of(
    model: ModelValues,
    errors: Mapping[str, ErrorSums],
    counts: Counts,
    user_declared: bool,
) -> Estimates:
    """Estimates of one model.

    ECE has no interval, since it is biased upward: it comes with its value by chance
    and the excess over that. A pooled AUC of cut scores says how far off it may be.
    PR-AUC has none, since its linearisation needs the
    precision at every click's score.

    Args:
        model: values over all rows of the slice.
        errors: error sums by metric.
        counts: rows, clicks and users of the slice.
        user_declared: whether the data names a user id column.

    Returns:
        One estimate for each of ``METRICS``; undefined ones carry their reason.
    """
    estimates: Estimates = {}
    for name in METRICS:
        value = model.values[name]
        if value is None:
            reason = undefined_reason(name, counts, model.outside_unit, user_declared)
            estimates[name] = Estimate(None, reason=reason)
        elif name in ("pcop", "abs_log_pcop"):
            estimates[name] = _log_estimate(name, value, errors.get("log_pcop"))
        else:
            estimates[name] = _estimate(value, errors.get(name))
    if model.auc_bound > 0:
        estimates["auc"] = dataclasses.replace(
            estimates["auc"], notes={"error_bound": model.auc_bound}
        )
    ece, by_chance = model.values["ece"], model.ece_by_chance
    if ece is not None and by_chance is not None:
        notes = {"expected_if_calibrated": by_chance, "excess": ece - by_chance}
        estimates["ece"] = Estimate(ece, notes=notes)
    return estimates


def changes_of(
    candidate: Estimates, baseline: Estimates, errors: Mapping[str, ErrorSums]
) -> Estimates:
    """Estimates of candidate less baseline, paired by user.

    The change of ``abs_log_pcop`` has a kink where PCOP is 1, so it is given only where
    the intervals of both models exclude 1.

    Args:
        candidate: estimates of the candidate.
        baseline: estimates of the baseline.
        errors: error sums by metric of the differences.

    Returns:
        One estimate for each of ``METRICS``, and ``log_pcop``: log PCOP of the
        candidate less that of the baseline.
    """
    changes = {
        name: _difference(candidate[name], baseline[name], errors.get(name))
        for name in METRICS
    }
    first, second = candidate["pcop"].value, baseline["pcop"].value
    if first is None or second is None or not (first > 0 and second > 0):
        changes["log_pcop"] = changes["abs_log_pcop"]
        return changes
    logs = math.log(first), math.log(second)
    changes["log_pcop"] = _change(logs[0] - logs[1], errors.get("log_pcop"))
    if _off_one(candidate["pcop"]) and _off_one(baseline["pcop"]):
        same_side = (logs[0] > 0) == (logs[1] > 0)
        name = "log_pcop" if same_side else LOG_PCOP_SUM
        distance = abs(logs[0]) - abs(logs[1])
        changes["abs_log_pcop"] = _change(distance, errors.get(name))
    else:
        changes["abs_log_pcop"] = Estimate(None, reason=SIGN_UNRESOLVED)
    return changes


def _estimate(value: float, errors: ErrorSums | None) -> Estimate:
    """A value with its interval, where error sums are kept for the metric."""
    if errors is None:
        return Estimate(value)
    error, users = errors.standard_error, errors.effective_users
    ends = t_interval(value, error, users)
    return Estimate(value, ends, standard_error=error, effective_users=users)


def _log_estimate(name: str, value: float, errors: ErrorSums | None) -> Estimate:
    """PCOP or |log PCOP| with an interval made on the log scale, where it is even."""
    if errors is None:
        return Estimate(value)
    error, users = errors.standard_error, errors.effective_users
    log_value = math.log(value) if name == "pcop" else value
    ends = t_interval(log_value, error, users)
    if ends is not None:
        ends = _exponential(ends) if name == "pcop" else _distance(ends)
    return Estimate(value, ends, standard_error=error, effective_users=users)


def _exponential(ends: Interval) -> Interval:
    """Ends of PCOP from those of its logarithm, held inside the range of float64."""
    low, high = ends
    return math.exp(low), math.exp(min(high, _LARGEST_LOG))


def _distance(ends: Interval) -> Interval:
    """Ends of a number's distance from 0 from those of the number or its negative."""
    low, high = ends
    near = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return near, max(abs(low), abs(high))


def _difference(
    candidate: Estimate, baseline: Estimate, errors: ErrorSums | None
) -> Estimate:
    """Candidate less baseline, undefined with the reason of the undefined one."""
    if candidate.value is None:
        return Estimate(None, reason=candidate.reason)
    if baseline.value is None:
        return Estimate(None, reason=f"baseline: {baseline.reason}")
    return _change(candidate.value - baseline.value, errors)


def _change(value: float, errors: ErrorSums | None) -> Estimate:
    """A change with its interval; certain where it is 0 for every single user."""
    if value == 0.0 and errors is not None and errors.finite and not errors.squares:
        return Estimate(0.0, (0.0, 0.0), standard_error=0.0, effective_users=0.0)
    return _estimate(value, errors)


def _off_one(pcop: Estimate) -> bool:
    """Whether the interval of PCOP excludes 1."""
    return pcop.ci95 is not None and not pcop.ci95[0] <= 1.0 <= pcop.ci95[1]

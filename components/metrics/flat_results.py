"""Results of a slice as plain numbers by name, the form in which TFMA keeps them."""

import dataclasses
import math
from collections.abc import Mapping

from components.metrics.names import CHANGES, METRICS
from components.metrics.results import (
    SIGN_UNRESOLVED,
    Counts,
    Estimate,
    SliceKey,
    SliceResult,
    undefined_reason,
)

USER_DECLARED = "user_declared"


def flatten(result: SliceResult, user_declared: bool = True) -> dict[str, float]:
    """Writes a slice as plain numbers, NaN for undefined ones.

    Args:
        result: one slice.
        user_declared: whether the data names a user id column.

    Returns:
        Counts by name; each metric by name with ``_ci95_low`` and ``_ci95_high`` where
        it has an interval; with a baseline each change as ``<metric>_change``, too.
    """
    flat: dict[str, float] = {
        name: float(value) for name, value in dataclasses.asdict(result.counts).items()
    }
    flat[USER_DECLARED] = float(user_declared)
    flat |= _flat_estimates(result.metrics, "")
    flat |= _flat_estimates(result.delta or {}, "_change")
    return flat


def flatten_baseline(
    result: SliceResult, user_declared: bool = True
) -> dict[str, float]:
    """Writes the baseline of a slice as plain numbers.

    Args:
        result: one slice, with a baseline.
        user_declared: whether the data names a user id column.

    Returns:
        What :func:`flatten` would write for the baseline alone.
    """
    counts = dataclasses.replace(
        result.counts, rows_outside_unit=result.baseline_outside_unit
    )
    alone = SliceResult(result.slice, counts, result.baseline or {})
    return flatten(alone, user_declared)


def _flat_estimates(estimates: Mapping[str, Estimate], suffix: str) -> dict[str, float]:
    """Numbers of some estimates, each name followed by ``suffix``."""
    flat: dict[str, float] = {}
    for name, one in estimates.items():
        key = name + suffix
        flat[key] = math.nan if one.value is None else one.value
        if one.ci95 is not None:
            flat[f"{key}_ci95_low"], flat[f"{key}_ci95_high"] = one.ci95
    return flat


def read_flat(
    key: SliceKey, flat: Mapping[str, float], baseline: Mapping[str, float] | None
) -> SliceResult:
    """Reads a slice back from plain numbers.

    Args:
        key: name and value of each feature of the slice.
        flat: what :func:`flatten` wrote.
        baseline: what :func:`flatten_baseline` wrote, or None without a baseline.

    Returns:
        The slice; reasons of undefined values are derived from the counts again.
    """
    counts = _read_counts(flat)
    metrics = _read_estimates(flat, counts)
    if baseline is None:
        return SliceResult(dict(key), counts, metrics)
    base_counts = _read_counts(baseline)
    base = _read_estimates(baseline, base_counts)
    delta = _read_estimates(flat, counts, "_change")
    for name, one in delta.items():
        model = name if name in METRICS else "abs_log_pcop"
        if one.value is None and metrics[model].value is not None:
            delta[name] = Estimate(None, reason=_change_reason(base[model]))
    outside = base_counts.rows_outside_unit
    return SliceResult(dict(key), counts, metrics, base, outside, delta)


def _change_reason(baseline: Estimate) -> str:
    """Why a change is undefined though the candidate has a value."""
    if baseline.value is None:
        return f"baseline: {baseline.reason}"
    return SIGN_UNRESOLVED


def _read_counts(flat: Mapping[str, float]) -> Counts:
    """Counts out of plain numbers."""
    names = [field.name for field in dataclasses.fields(Counts)]
    return Counts(**{name: int(flat[name]) for name in names})


def _read_estimates(
    flat: Mapping[str, float], counts: Counts, suffix: str = ""
) -> dict[str, Estimate]:
    """Estimates out of plain numbers, with a reason where the number is NaN."""
    user_declared = bool(flat[USER_DECLARED])
    estimates = {}
    for name in CHANGES if suffix else METRICS:
        key = name + suffix
        value = flat[key]
        if math.isnan(value):
            reason = undefined_reason(name, counts, user_declared)
            estimates[name] = Estimate(None, reason=reason)
            continue
        low = flat.get(f"{key}_ci95_low")
        ends = None if low is None else (low, flat[f"{key}_ci95_high"])
        estimates[name] = Estimate(value, ends)
    return estimates

"""The intervals that gates hold against bounds instead of a value."""

import math
from collections.abc import Mapping, Sequence

from components.gates_config import ChangeBounds
from components.holm import holm_levels
from components.metrics.intervals import Interval, t_interval, t_tail
from components.metrics.results import Estimate, SliceResult

# Chance of a wrong decision of one gate, on the side that counts.
LEVEL = 0.05
# PCOP varies by about 1 / sqrt(clicks). At 500 clicks a calibrated model leaves 0.95 to
# 1.05 in 26 % of slices; at 5,000 in 4 of 10,000.
CLICKS_AS_MEASURED = 5_000

# A change of unknown sign; it is exactly 0 all the same where the change of the other
# metric is 0 for every single user.
_SAME_WHEN_SAME = {"abs_log_pcop": "log_pcop"}

SliceValues = frozenset[tuple[str, str | int | float]]


def values_of(result: SliceResult) -> SliceValues:
    """Names a slice by its features and values, whatever their order."""
    return frozenset(result.slice.items())


def change_of(result: SliceResult, metric: str) -> Estimate | None:
    """Candidate less baseline.

    Args:
        result: a slice.
        metric: the metric.

    Returns:
        The change, 0 where the models predict the same; None without a baseline.
    """
    if result.delta is None:
        return None
    witness = result.delta[_SAME_WHEN_SAME.get(metric, metric)]
    if witness.value == 0.0 and witness.standard_error == 0.0:
        return witness
    return result.delta[metric]


def change_interval(result: SliceResult, metric: str) -> Interval | None:
    """Paired two-sided 90 % interval of a change, whose ends are one-sided 95 % ends.

    Args:
        result: a slice with a baseline.
        metric: the metric.

    Returns:
        Lower and upper end of candidate less baseline; None where there is none.
    """
    change = change_of(result, metric)
    if change is None:
        return None
    if metric == "abs_log_pcop":
        return _calibration_change(result)
    return _interval(change, change.value, 1 - 2 * LEVEL)


def _calibration_change(result: SliceResult) -> Interval | None:
    """Interval of the change of abs(log PCOP), which has a kink at 0.

    With a and b for log PCOP of candidate and baseline, the change lies between
    -abs(a - b) and abs(a - b), and between the nearest of abs(a) less the farthest of
    abs(b) and the farthest of abs(a) less the nearest of abs(b). The intervals of
    a - b, a and b hold together at 95 % (Bonferroni), and so does what both ways leave.
    """
    confidence = 1 - LEVEL / 3
    change = (result.delta or {})["log_pcop"]
    ends: list[Interval] = []
    paired = _interval(change, change.value, confidence)
    if paired is not None:
        far = max(map(abs, paired))
        ends.append((-far, far))
    models = [
        _interval(estimates["pcop"], log_of(estimates["pcop"]), confidence)
        for estimates in (result.metrics, result.baseline or {})
    ]
    if models[0] is not None and models[1] is not None:
        (near_a, far_a), (near_b, far_b) = map(_magnitude, (models[0], models[1]))
        ends.append((near_a - far_b, far_a - near_b))
    if not ends:
        return None
    return max(low for low, _ in ends), min(high for _, high in ends)


def calibration_intervals(
    results: Sequence[SliceResult], metric: str, bounds: ChangeBounds
) -> dict[SliceValues, Interval | None]:
    """Intervals of PCOP in the slices that are too small to count as measured.

    All those slices are one family of m tests of "PCOP lies outside the band", made on
    the log scale, where the interval is even. A p-value is the tail beyond the nearer
    bound, doubled where the band has two. Holm's procedure at 5 % says which slices are
    outside, and gives each slice its level: 5 % / (m - j) to the slice that fails as
    number j + 1, and 5 % / (m - r) to all others when r have failed. The interval of a
    slice is two-sided at its level, one-sided where the band has one bound, and lies
    wholly outside the band exactly when Holm rejects. Where no slice fails, every level
    is 5 % / m, so that all intervals hold together at 95 % (Bonferroni): a blessing on
    intervals wholly inside is wrong in at most 5 %. A slice without an interval counts
    in m with a p-value of 1.

    Args:
        results: the slices of one gate.
        metric: ``pcop`` with ``min`` and ``max``, or ``abs_log_pcop`` with ``max``.
        bounds: bounds of that metric.

    Returns:
        Interval by slice, on the scale of the metric, of each slice below 5,000 clicks
        with a PCOP above 0; None where it has no interval.
    """
    band = _band(metric, bounds.given())
    if band is None:
        return {}
    low, high = band
    small = {
        values_of(result): result.metrics["pcop"]
        for result in results
        if result.counts.clicks < CLICKS_AS_MEASURED
        and log_of(result.metrics["pcop"]) is not None
    }
    sides = math.isfinite(low) + math.isfinite(high) or 1
    p_values = []
    for pcop in small.values():
        value = log_of(pcop)
        assert value is not None
        beyond = max(value - high, low - value)
        tail = t_tail(beyond, pcop.standard_error, pcop.effective_users)
        p_values.append(1.0 if tail is None else min(1.0, sides * tail))
    levels = holm_levels(p_values, LEVEL)
    return {
        key: _on_scale(metric, _interval(pcop, log_of(pcop), 1 - 2 / sides * level))
        for (key, pcop), level in zip(small.items(), levels, strict=True)
    }


def log_of(pcop: Estimate) -> float | None:
    """Log of PCOP; None where it is undefined or not above 0."""
    return math.log(pcop.value) if pcop.value is not None and pcop.value > 0 else None


def _band(metric: str, given: Mapping[str, float]) -> Interval | None:
    """Bounds on log PCOP, infinite where there is none; None without a band."""
    if metric == "pcop" and ("min" in given or "max" in given):
        return _log(given.get("min", 0.0)), _log(given.get("max", math.inf))
    if metric == "abs_log_pcop" and "max" in given:
        return -given["max"], given["max"]
    return None


def _log(bound: float) -> float:
    """Log of a bound; PCOP is above any bound that is not positive."""
    return math.log(bound) if bound > 0 else -math.inf


def _interval(
    estimate: Estimate, value: float | None, confidence: float
) -> Interval | None:
    """Interval of a value with the standard error of an estimate."""
    if value is None:
        return None
    return t_interval(
        value, estimate.standard_error, estimate.effective_users, confidence
    )


def _on_scale(metric: str, ends: Interval | None) -> Interval | None:
    """An interval of log PCOP as one of the metric."""
    if ends is None:
        return None
    return _magnitude(ends) if metric == "abs_log_pcop" else _exp(ends)


def _exp(ends: Interval) -> Interval:
    """Ends off the log scale."""
    return math.exp(ends[0]), math.exp(ends[1])


def _magnitude(ends: Interval) -> Interval:
    """Least and largest distance from 0 within an interval."""
    low, high = ends
    near = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return near, max(abs(low), abs(high))

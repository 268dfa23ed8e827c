"""Results of a slice in the forms in which TFMA keeps and shows them."""

import json
from collections.abc import Mapping
from typing import Any

from tensorflow_model_analysis.metrics import metric_types
from tensorflow_model_analysis.proto import metrics_for_slice_pb2

from components.metrics.results import Estimate, SliceResult

# The whole result as JSON, from which results are read back without loss.
RECORD = "slice_result"


def tfma_values(result: SliceResult, candidate: str, baseline: str) -> dict[Any, Any]:
    """Writes a slice as TFMA metrics and plots.

    Args:
        result: one slice.
        candidate: name of the candidate model; empty without a baseline.
        baseline: name of the baseline model, or empty.

    Returns:
        Values by TFMA key: counts; each metric by name, with ``_ci95_low`` and
        ``_ci95_high`` where it has an interval; changes as ``<metric>_change``; NaN
        where undefined; the calibration plot; and the record.
    """
    numbers: dict[str, float] = {
        "rows": float(result.counts.rows),
        "clicks": float(result.counts.clicks),
        "users": float(result.counts.users),
        "users_scored": float(result.counts.users_scored),
    }
    numbers |= _numbers(result.metrics, "") | _numbers(result.delta or {}, "_change")
    values: dict[Any, Any] = {
        _key(name, candidate): value for name, value in numbers.items()
    }
    values[_key(RECORD, candidate)] = json.dumps(result.to_json(), allow_nan=False)
    for name, value in _numbers(result.baseline or {}, "").items():
        values[_key(name, baseline)] = value
    plot = metric_types.PlotKey(name="calibration_plot", model_name=candidate)
    values[plot] = _calibration_plot(result)
    return values


def _key(name: str, model_name: str) -> metric_types.MetricKey:
    """Key of one number in TFMA's result."""
    return metric_types.MetricKey(name=name, model_name=model_name)


def read_record(record: bytes) -> SliceResult:
    """Reads a slice back from its record.

    Args:
        record: the value of the metric ``RECORD``.

    Returns:
        The slice as it was written.
    """
    return SliceResult.from_json(json.loads(record))


def _numbers(estimates: Mapping[str, Estimate], suffix: str) -> dict[str, float]:
    """Numbers of some estimates, each name followed by ``suffix``."""
    flat: dict[str, float] = {}
    for name, one in estimates.items():
        key = name + suffix
        flat[key] = float("nan") if one.value is None else one.value
        if one.ci95 is not None:
            flat[f"{key}_ci95_low"], flat[f"{key}_ci95_high"] = one.ci95
    return flat


def _calibration_plot(
    result: SliceResult,
) -> metrics_for_slice_pb2.CalibrationHistogramBuckets:
    """The buckets of equal weight as TFMA's calibration plot draws them."""
    plot = metrics_for_slice_pb2.CalibrationHistogramBuckets()
    for bucket in result.calibration:
        added = plot.buckets.add(
            lower_threshold_inclusive=bucket["lowest"],
            upper_threshold_exclusive=bucket["highest"],
        )
        weight = bucket["weight"]
        added.num_weighted_examples.value = weight
        added.total_weighted_label.value = bucket["observed"] * weight
        added.total_weighted_refined_prediction.value = bucket["predicted"] * weight
    return plot

"""Judges what the replay found."""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from components.serving_check.config import ServingCheckConfig

# Odd requests that are named in a line; the file has all.
_NAMED = 5


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        check: what.
        signature: of the model, None for the model as a whole.
        status: the outcome.
        text: its figures, or why it failed.
    """

    check: str
    signature: str | None
    status: Literal["pass", "fail", "skipped"]
    text: str


def size_check(size_bytes: int, config: ServingCheckConfig) -> Check:
    """Holds the size on disk against its limit."""
    size, limit = size_bytes / 2**20, config.max_size_mib
    if limit is not None and size > limit:
        text = f"{size:.1f} MiB, above max_size_mib {limit:g}"
        return Check("size", None, "fail", text)
    return Check("size", None, "pass", f"{size:.1f} MiB on disk")


def model_checks(
    facts: dict[str, Any],
    evaluated: NDArray[np.float64] | str,
    config: ServingCheckConfig,
) -> Iterator[Check]:
    """Judges a model that was replayed.

    Args:
        facts: as the process of the replay wrote them.
        evaluated: predictions of the same rows by the Evaluator's path, or why there
            are none.
        config: tolerance and limits.

    Yields:
        Checks of the model, then of each signature.
    """
    text = f"{facts['load_seconds']:.1f} s, peak {facts['peak_bytes'] / 2**20:.0f} MiB"
    yield Check("load", None, "pass", text)
    if isinstance(evaluated, str):
        yield Check("evaluated", None, "fail", evaluated)
    for signature, found in facts["signatures"].items():
        if "skipped" in found:
            yield Check("rows", signature, "skipped", found["skipped"])
        elif "fault" in found:
            yield Check("rows", signature, "fail", found["fault"])
        else:
            for name, status, text in _signature(found, evaluated, config):
                yield Check(name, signature, status, text)


def _signature(
    found: dict[str, Any],
    evaluated: NDArray[np.float64] | str,
    config: ServingCheckConfig,
) -> Iterator[tuple[str, Literal["pass", "fail"], str]]:
    """Name, status and text of each check of a signature that answers."""
    count = len(found["predictions"])
    yield "rows", "pass", f"{count:,} rows, all in [0, 1]"
    differences = {
        "batch sizes": max(found["batches"].values()),
        "after requests": found["again"],
    }
    if not isinstance(evaluated, str):
        moved = np.abs(np.array(found["predictions"]) - evaluated)
        differences = {"evaluated": float(moved.max())} | differences
    for name, difference in differences.items():
        within = difference <= config.tolerance
        side = "within" if within else "above"
        text = f"largest difference {difference:.2g}, {side} {config.tolerance:g}"
        yield name, "pass" if within else "fail", text
    yield "requests", *_requests(found["requests"])
    yield "latency", *_latency(found["latency"], config.max_p99_ms)


def _requests(outcomes: list[dict[str, Any]]) -> tuple[Literal["pass", "fail"], str]:
    """Status and text of the odd requests."""
    faults = [
        f"{one['column'] or 'request'}, {one['case']}: {one['fault']}"
        for one in outcomes
        if one["fault"]
    ]
    if faults:
        more = ["..."] if len(faults) > _NAMED else []
        named = "; ".join(faults[:_NAMED] + more)
        return "fail", f"{len(faults)} of {len(outcomes)} odd requests: {named}"
    counted = Counter(one["outcome"] for one in outcomes)
    text = ", ".join(f"{number} {name}" for name, number in sorted(counted.items()))
    return "pass", f"{len(outcomes)} odd requests: {text}"


def _latency(
    by_batch: dict[str, dict[str, float]], limit: float | None
) -> tuple[Literal["pass", "fail"], str]:
    """Status and text of the latency."""
    parts = [
        f"batch {size}: p50 {one['p50_ms']:.2f}, p95 {one['p95_ms']:.2f}, "
        f"p99 {one['p99_ms']:.2f} ms, {one['examples_per_second']:,.0f} rows/s"
        for size, one in by_batch.items()
    ]
    text = "; ".join(parts)
    if limit is not None and by_batch["1"]["p99_ms"] > limit:
        return "fail", f"p99 of batch 1 above max_p99_ms {limit:g}: {text}"
    return "pass", text

"""Tables of metrics by slice."""

from collections.abc import Sequence
from typing import Any

from components.metrics.names import METRICS
from components.report.tables import Cell, Table, count, words
from components.report.text import ABSENT, interval, metric_title, number, slice_name

# Below this many clicks the order of slices is mostly noise.
ENOUGH_CLICKS = 100
MOST_EXTREMES = 5


def estimate_cell(estimate: dict[str, Any] | None, form: str = ".4f") -> Cell:
    """A metric with its interval; an undefined one shows its reason."""
    if estimate is None:
        return Cell(ABSENT)
    value = estimate["value"]
    if value is None:
        return Cell(ABSENT, None, estimate.get("reason") or "")
    return Cell(number(value, form), value, interval(estimate, form))


def metric_table(slices: Sequence[dict[str, Any]]) -> Table:
    """All metrics by slice.

    Args:
        slices: slices of the summary, all rows first.

    Returns:
        One row a slice, with filters.
    """
    rows = []
    for entry in slices:
        estimates = [estimate_cell(entry["metrics"].get(name)) for name in METRICS]
        counts = [count(entry[name]) for name in ("rows", "clicks", "users_scored")]
        rows.append([words(slice_name(entry["slice"])), *counts, *estimates])
    heads = ["slice", "rows", "clicks", "users scored"]
    return Table(
        "Metrics by slice",
        [*heads, *(metric_title(name) for name in METRICS)],
        rows,
        "The small line is the 95 % interval by user, or why there is no value. Click a "
        "head to sort.",
        clicks=2,
        wide=True,
    )


def change_table(slices: Sequence[dict[str, Any]]) -> Table:
    """Changes against the baseline by slice.

    Args:
        slices: slices of the summary with ``baseline`` and ``delta``.

    Returns:
        One row a slice, with filters.
    """
    names = [name for name in (*METRICS, "log_pcop") if name in slices[0]["delta"]]
    rows = []
    for entry in slices:
        changes = [estimate_cell(entry["delta"].get(name), "+.4f") for name in names]
        rows.append(
            [words(slice_name(entry["slice"])), count(entry["clicks"]), *changes]
        )
    return Table(
        "Change against the baseline by slice",
        ["slice", "clicks", *(metric_title(name) for name in names)],
        rows,
        "Candidate less baseline on the same rows. The small line is the 95 % interval, "
        "paired by user: one that holds 0 shows no difference.",
        clicks=1,
        wide=True,
    )


def bucket_table(buckets: Sequence[dict[str, float]]) -> Table:
    """Prediction and click rate by bucket of the score.

    Args:
        buckets: ``calibration`` of a slice.

    Returns:
        One row a bucket.
    """
    rows = []
    for place, one in enumerate(buckets, start=1):
        observed = one["observed"]
        ratio = one["predicted"] / observed if observed else None
        scores = f"{one['lowest']:.4g} to {one['highest']:.4g}"
        rows.append(
            [
                count(place),
                Cell(scores, one["lowest"]),
                count(one["weight"]),
                Cell(f"{one['predicted']:.4%}", one["predicted"]),
                Cell(f"{observed:.4%}", observed),
                Cell(number(ratio, ".3f"), ratio),
            ]
        )
    return Table(
        "Calibration by bucket",
        ["bucket", "score", "weight", "mean prediction", "click rate", "PCOP"],
        rows,
        "Rows in the order of their score, cut into buckets of equal mass.",
        wide=True,
    )


def extreme_tables(slices: Sequence[dict[str, Any]]) -> tuple[list[Table], int]:
    """The slices at either end of GAUC and of the distance of PCOP from 1.

    Args:
        slices: slices of the summary, all rows first.

    Returns:
        Worst and best by each metric, and how many slices have too few clicks to count.
    """
    parts = [entry for entry in slices if entry["slice"]]
    enough = [entry for entry in parts if entry["clicks"] >= ENOUGH_CLICKS]
    tables = []
    for name, worst_last in (("gauc", True), ("abs_log_pcop", False)):
        known = [
            entry
            for entry in enough
            if (entry["metrics"].get(name) or {}).get("value") is not None
        ]
        known.sort(
            key=lambda entry: entry["metrics"][name]["value"], reverse=worst_last
        )
        # At most half, so that no slice is among the worst and the best.
        shown = min(MOST_EXTREMES, len(known) // 2)
        title = metric_title(name)
        if shown:
            worst = _extreme_table(f"Worst by {title}", known[::-1][:shown])
            tables += [worst, _extreme_table(f"Best by {title}", known[:shown])]
    return tables, len(parts) - len(enough)


def _extreme_table(title: str, slices: Sequence[dict[str, Any]]) -> Table:
    """A few slices with what they are judged by."""
    rows = [
        [
            words(slice_name(entry["slice"])),
            count(entry["clicks"]),
            estimate_cell(entry["metrics"].get("gauc")),
            estimate_cell(entry["metrics"].get("pcop")),
        ]
        for entry in slices
    ]
    return Table(title, ["slice", "clicks", "GAUC", "PCOP"], rows)

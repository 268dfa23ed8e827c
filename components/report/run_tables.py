"""Tables of a run: checks, data, cost, lineage."""

from collections.abc import Sequence
from typing import Any

from components.report.tables import Cell, Table, count, words
from components.report.text import (
    ABSENT,
    check_rule,
    check_status,
    interval,
    moment,
    number,
    short,
    slice_name,
)


def check_table(checks: Sequence[dict[str, Any]]) -> Table:
    """Every check of the gates.

    Args:
        checks: of the verdict.

    Returns:
        One row a check, those that did not pass first.
    """
    order = ("fail", "undecided", "skipped", "pass")
    rows = [
        [
            Cell(check_status(check), mark=check["status"]),
            words(slice_name(check["slice"])),
            words(check_rule(check)),
            Cell(
                number(check["value"]),
                check["value"],
                interval({"ci95": check.get("interval")}),
            ),
            count(check["clicks"]),
            words(check["reason"] or ""),
        ]
        for check in sorted(checks, key=lambda check: order.index(check["status"]))
    ]
    heads = ["status", "slice", "rule", "measured", "clicks", "reason"]
    return Table("All checks", heads, rows, wide=True)


def split_table(manifest: dict[str, Any]) -> Table:
    """Rows, clicks and span of time of each split.

    Args:
        manifest: of the ingest.

    Returns:
        One row a split.
    """
    rows = []
    for name, split in manifest["splits"].items():
        time = split.get("time")
        span = [moment(time[end]) if time else ABSENT for end in ("first", "last")]
        rate = split["clicks"] / max(split["rows"], 1)
        numbers = [count(split["rows"]), count(split["clicks"])]
        spans = [words(text) for text in span]
        rows.append([words(name), *numbers, Cell(f"{rate:.2%}", rate), *spans])
    heads = ["split", "rows", "clicks", "click rate", "first row", "last row"]
    return Table("Splits", heads, rows, wide=True)


def feature_table(split: dict[str, Any]) -> Table:
    """Statistics of each column of a split.

    Args:
        split: ``split``, ``rows`` and ``features``.

    Returns:
        One row a column.
    """
    rows = []
    for one in split["features"]:
        mean, deviation = one.get("mean"), one.get("deviation")
        ends = f"{short(one['min'])} to {short(one['max'])}" if "min" in one else ABSENT
        top = ", ".join(f"{value} ({seen:,.0f})" for value, seen in one.get("top", []))
        below = f"± {short(deviation)}" if deviation is not None else ""
        rows.append(
            [
                words(one["name"], one["type"]),
                Cell(f"{one['present']:.1%}", one["present"]),
                Cell(f"{one['values_per_row']:.3g}", one["values_per_row"]),
                count(one.get("unique")),
                Cell(short(mean), mean, below),
                words(ends),
                words("ids are not shown" if one["hidden"] else top or ABSENT),
            ]
        )
    heads = ["column", "present", "values a row", "unique", "mean", "range"]
    return Table(
        f"Columns of split {split['split']} ({split['rows']:,} rows)",
        [*heads, "most frequent values (rows)"],
        rows,
        wide=True,
    )


def anomaly_table(anomalies: Sequence[dict[str, str]]) -> Table:
    """Anomalies that the validation found."""
    keys = ("split", "column", "description")
    rows = [[words(one[key]) for key in keys] for one in anomalies]
    return Table("Anomalies", keys, rows, wide=True)


def cost_table(components: Sequence[dict[str, Any]]) -> Table:
    """What each component cost.

    Args:
        components: of the summary.

    Returns:
        One row a component, then their sum; device seconds only where recorded.
    """
    seconds = {"wall_seconds": "wall s", "cpu_seconds": "CPU s"}
    if any(entry.get("device_seconds") is not None for entry in components):
        seconds["device_seconds"] = "device s"
    total = {key: sum(one.get(key) or 0.0 for one in components) for key in seconds}
    total["peak_bytes"] = max((one["peak_bytes"] for one in components), default=0)
    rows = [
        [
            words(entry.get("component", "all")),
            words(entry.get("state", "")),
            count(entry.get("rows")),
            *(Cell(number(entry.get(key), ".1f"), entry.get(key)) for key in seconds),
            count(entry["peak_bytes"] / 2**20),
        ]
        for entry in [*components, total]
    ]
    return Table(
        "Cost by component",
        ["component", "state", "rows", *seconds.values(), "peak MiB"],
        rows,
        "CPU seconds of all processes; peak memory summed over them.",
        wide=True,
    )


def training_table(training: dict[str, Any]) -> Table:
    """Single values of a training.

    Args:
        training: as the Trainer wrote it.

    Returns:
        One row a value; series are left to the curves.
    """
    rows = [
        [words(name.replace("_", " ")), _scalar(value)]
        for name, value in training.items()
        if not isinstance(value, (dict, list))
    ]
    return Table("Training in numbers", ["what", "value"], rows)


def epoch_table(training: dict[str, Any]) -> Table | None:
    """Losses and validation of each epoch.

    Args:
        training: as the Trainer wrote it.

    Returns:
        One row an epoch; None where no epoch was recorded.
    """
    validation = {one["epoch"]: one for one in training.get("validation") or ()}
    rows = []
    for epoch, loss in enumerate(training.get("epoch_losses") or (), start=1):
        scores = validation.get(epoch, {})
        gauc = {"ci95": scores.get("gauc_interval")}
        numbers = [
            Cell(number(value), value, below)
            for value, below in (
                (loss, ""),
                (scores.get("log_loss"), ""),
                (scores.get("gauc"), interval(gauc)),
                (scores.get("pcop"), ""),
            )
        ]
        kept = "kept" if epoch == training.get("best_epoch") else ""
        rows.append([count(epoch), *numbers, words(kept)])
    heads = ["epoch", "training loss", "validation loss", "GAUC", "PCOP", "weights"]
    return Table("Epochs", heads, rows, wide=True) if rows else None


def _scalar(value: Any) -> Cell:
    """A JSON scalar as a cell."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Cell(short(value), value)
    return words(ABSENT if value is None else str(value))


def lineage_table(lineage: Sequence[dict[str, Any]]) -> Table:
    """The artifacts of each execution."""
    rows = [
        [words(node["component"], node["state"]), words(key), words(", ".join(uris))]
        for node in lineage
        for key, uris in (node["outputs"] or {"": []}).items()
    ]
    return Table("Artifacts", ["component", "output", "where"], rows, wide=True)


def pair_table(title: str, pairs: dict[str, Any]) -> Table:
    """Names and values, one pair a row."""
    rows = [[words(name), words(str(value))] for name, value in pairs.items()]
    return Table(title, ["what", "value"], rows)

"""Tables of runs and of pushed versions."""

from typing import Any

from rich.table import Table

from pipeline.cli.tables import METRICS, cell, number, slice_name


def runs_table(summaries: list[dict[str, Any]], running: list[str]) -> Table:
    """One line a run.

    Args:
        summaries: of the runs that ended.
        running: pipelines with a run at work, which has no summary yet.

    Returns:
        The table, the runs at work last.
    """
    table = Table()
    # An id that is cut cannot be copied into `runs show`.
    table.add_column("run", no_wrap=True, min_width=26)
    table.add_column("pipeline")
    table.add_column("verdict")
    for name in ("gauc", "pcop"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("pushed", no_wrap=True)
    for summary in summaries:
        overall = (summary["slices"] or [None])[0]
        verdict = summary["verdict"]
        table.add_row(
            cell(summary["run"]),
            cell(summary["pipeline"]),
            "failed"
            if summary["error"]
            else ("blessed" if verdict and verdict["blessed"] else "not blessed"),
            number(overall["metrics"].get("gauc")) if overall else "",
            number(overall["metrics"].get("pcop")) if overall else "",
            cell((summary["pushed"] or "").rsplit("/", 1)[-1]),
        )
    for name in running:
        table.add_row("", cell(name), "running")
    return table


def causes_table(causes: dict[str, list[Any]]) -> Table:
    """One line for each thing that differs between two runs."""
    table = Table(title="differs")
    for name in ("what", "first", "second"):
        table.add_column(name, overflow="fold")
    for path, pair in causes.items():
        table.add_row(cell(path), *(cell(_plain(side)) for side in pair))
    return table


def _plain(value: Any) -> str:
    """A setting's text; a mapping by what is set in it."""
    if isinstance(value, dict):
        pairs = [f"{key}: {one}" for key, one in value.items() if one is not None]
        return ", ".join(pairs)
    return "-" if value is None else str(value)


def metric_diff_table(slices: list[dict[str, Any]]) -> Table:
    """Second minus first of the main metrics, slice by slice."""
    table = Table(title="second - first")
    table.add_column("slice")
    table.add_column("rows", justify="right")
    for name in METRICS:
        table.add_column(name, justify="right", no_wrap=True)
    for one in slices:
        rows = " / ".join("" if n is None else f"{n:,}" for n in one["rows"])
        changes = [_change(*one["metrics"].get(m, (None, None))) for m in METRICS]
        table.add_row(slice_name(one["slice"]), rows, *changes)
    return table


def _change(first: float | None, second: float | None) -> str:
    """A difference, empty where one side has no value."""
    return "" if first is None or second is None else f"{second - first:+.4f}"


def versions_table(versions: list[dict[str, Any]]) -> Table:
    """One line a pushed version."""
    table = Table()
    for name in ("version", "model", "state"):
        table.add_column(name, no_wrap=True)
    for one in versions:
        states = [name for name in ("served", "withdrawn") if one[name]]
        table.add_row(str(one["version"]), one["model"], ", ".join(states))
    return table

"""Tables that commands print, made from the JSON that ``--json`` gives."""

import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from data.errors import one_line

METRICS = ("auc", "gauc", "pcop", "log_loss")
# Changes against a baseline that are told with their intervals.
_CHANGES = ("gauc", "auc", "log_loss", "log_pcop")


def table_console() -> Console:
    """A console for tables on stdout.

    Where nothing says how wide the output is, a table must not be cut to 80.
    """
    return Console(width=None if sys.stdout.isatty() else 140)


def print_line(console: Console, text: str) -> None:
    """Prints a text that files may have had a say in, as it is and in one line.

    Args:
        console: where to.
        text: the text; brackets in it are no markup.
    """
    console.print(one_line(text), markup=False, highlight=False, soft_wrap=True)


def cell(value: Any) -> str:
    """A value for a table or for a line with markup.

    Args:
        value: of any type.

    Returns:
        Its text in one line, brackets and control characters escaped.
    """
    return escape(one_line(str(value)))


def slice_table(slices: list[dict[str, Any]]) -> Table:
    """Metrics by slice, the overall slice first.

    Args:
        slices: slices as ``ctr evaluate --json`` prints them.

    Returns:
        One row a slice; an undefined value shows its reason below the table.
    """
    with_delta = any(entry.get("delta") for entry in slices)
    table = Table(title="metrics by slice", title_justify="left")
    table.add_column("slice")
    for name in ("rows", "users"):
        table.add_column(name, justify="right")
    for name in METRICS:
        table.add_column(name, justify="right")
        if with_delta and name != "pcop":
            table.add_column(f"Δ {name}", justify="right")
    for entry in slices:
        cells = [
            slice_name(entry["slice"]),
            f"{entry['rows']:,}",
            f"{entry['users']:,}",
        ]
        for name in METRICS:
            cells.append(number(entry["metrics"].get(name)))
            if with_delta and name != "pcop":
                change = (entry.get("delta") or {}).get(name)
                cells.append(number(change, "+.4f"))
        table.add_row(*cells)
    return table


def slice_name(values: dict[str, Any]) -> str:
    """``device=ios, hour=7``, or ``overall``."""
    pairs = [f"{key}={value}" for key, value in values.items()]
    return cell(", ".join(pairs)) if pairs else "overall"


def number(metric: dict[str, Any] | None, form: str = ".4f") -> str:
    """A metric's value, or a dash where it is undefined."""
    value = metric.get("value") if metric else None
    return "-" if value is None else format(value, form)


def component_table(components: list[dict[str, Any]]) -> Table:
    """Cost of each component."""
    table = Table(title="components", title_justify="left")
    table.add_column("component")
    for name in ("rows", "wall s", "CPU s", "peak MiB"):
        table.add_column(name, justify="right")
    for entry in components:
        rows = entry["rows"]
        table.add_row(
            cell(entry["component"])
            + ("" if entry["state"] == "complete" else " (failed)"),
            "" if rows is None else f"{rows:,}",
            f"{entry['wall_seconds']:.1f}",
            f"{entry['cpu_seconds']:.1f}",
            f"{entry['peak_bytes'] / 2**20:.0f}",
        )
    return table


def data_line(manifest: dict[str, Any]) -> str:
    """Rows read, by split, and put aside.

    Args:
        manifest: as ingest wrote it.

    Returns:
        One line.
    """
    splits = ", ".join(
        f"{name} {split['rows']:,} ({split['clicks'] / max(split['rows'], 1):.2%} clicks)"
        for name, split in manifest["splits"].items()
    )
    return (
        f"rows: read {manifest['rows_read']:,}, {splits}, "
        f"quarantined {manifest['rows_quarantined']:,}"
    )


def data_check_table(checks: dict[str, Any]) -> Table | None:
    """The data checks that warned or failed.

    Args:
        checks: as ``data_checks.json`` holds them.

    Returns:
        One row a check; None where all passed.
    """
    table = Table(title="data checks", title_justify="left")
    for name in ("check", "feature", "where"):
        table.add_column(name)
    for name in ("found", "limit"):
        table.add_column(name, justify="right")
    table.add_column("level")
    for one in checks["findings"]:
        if one["status"] in ("warn", "fail"):
            names = (cell(one[key]) for key in ("check", "subject", "place"))
            values = (number({"value": one[key]}, ".4g") for key in ("found", "limit"))
            table.add_row(*names, *values, cell(one["level"]))
    return table if table.row_count else None


def verdict_lines(verdict: dict[str, Any]) -> list[str]:
    """The verdict, then a line for each check that did not pass.

    Args:
        verdict: ``blessed``, ``reason`` and ``checks``.

    Returns:
        Lines with rich markup.
    """
    colour = "green" if verdict["blessed"] else "red"
    lines = [f"verdict: [{colour}]{cell(verdict['reason'])}[/{colour}]"]
    for check in verdict["checks"]:
        if check["status"] != "pass":
            against = f" against {check['against']}" if check.get("against") else ""
            gate = f"{check['kind']} {check['bound']:g}{against}"
            allowed = " (allowed)" if check.get("allowed") else ""
            lines.append(
                f"  {cell(check['status'])}{allowed}: "
                f"{cell(check['metric'])} of {slice_name(check['slice'])} "
                f"({check['rows']:,} rows, {check['clicks']:,} clicks), "
                f"{cell(gate)}: {cell(check['reason'] or '')}"
            )
    return lines


def metric_notes(overall: dict[str, Any]) -> list[str]:
    """Intervals of values and changes, undefined values, and rows that GAUC leaves out.

    Args:
        overall: the slice of all rows.

    Returns:
        One line each.
    """
    notes = []
    for name, metric in overall["metrics"].items():
        if metric["value"] is None:
            notes.append(f"{name}: undefined, {metric['reason']}")
        elif metric["ci95"] is not None:
            low, high = metric["ci95"]
            notes.append(
                f"{name}: {metric['value']:.4f}, 95 % {low:.4f} - {high:.4f} "
                f"({metric['effective_users']:,.0f} effective users)"
            )
        elif metric.get("effective_users") is not None:
            notes.append(
                f"{name}: {metric['value']:.4f}, no interval: "
                f"{metric['effective_users']:.2f} effective users are fewer than 5"
            )
        elif metric.get("excess") is not None:
            notes.append(
                f"{name}: {metric['value']:.4f}, by chance "
                f"{metric['expected_if_calibrated']:.4f}, excess "
                f"{metric['excess']:+.4f}"
            )
    changes = overall.get("delta") or {}
    for name in _CHANGES:
        change = changes.get(name)
        if change and change["ci95"] is not None:
            low, high = change["ci95"]
            notes.append(
                f"change of {name} against the baseline: {change['value']:+.4f}, "
                f"95 % {low:+.4f} to {high:+.4f}, paired by user"
            )
    for name, error in (overall.get("field_calibration_error") or {}).items():
        notes.append(f"calibration error over {name}: {error:.4f}")
    if overall["rows"]:
        share = overall["rows_scored"] / overall["rows"]
        notes.append(
            f"users scored: {overall['users_scored']:,} of {overall['users']:,}, with "
            f"{share:.1%} of rows; rows without user: {overall['rows_without_user']:,}"
        )
    return notes

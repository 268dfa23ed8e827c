"""``ctr simulate``: a click log whose true click probabilities are known."""

import dataclasses
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from data.settings import parse
from data.simulator.config import SimulatorConfig
from pipeline.cli.options import PathType

if TYPE_CHECKING:
    from data.simulator.writing import LogFormat

# A bar for something that is over at once would only flicker.
_PATIENCE_SECONDS = 2.0


def _default(name: str) -> Any:
    """What the simulator does when an option is not given."""
    return SimulatorConfig.model_fields[name].default


@click.command()
@click.option(
    "--output",
    required=True,
    type=PathType(path_type=Path),
    help="Folder to write; it must be empty or absent.",
)
@click.option(
    "--rows",
    type=int,
    default=_default("rows"),
    show_default=True,
    help="Impressions in all.",
)
@click.option(
    "--users",
    type=int,
    default=_default("users"),
    show_default=True,
    help="Users, of long-tailed activity.",
)
@click.option(
    "--days",
    type=int,
    default=_default("days"),
    show_default=True,
    help="Days from Monday 2025-01-06 UTC.",
)
@click.option(
    "--seed",
    type=int,
    default=_default("seed"),
    show_default=True,
    help="Equal seeds give equal files.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["csv", "parquet", "tfrecord"]),
    default="csv",
    show_default=True,
    help="Kind of files.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def simulate(
    output: Path,
    rows: int,
    users: int,
    days: int,
    seed: int,
    file_format: "LogFormat",
    as_json: bool,
) -> None:
    """Write a click log with known click probabilities.

    Column `true_probability` holds the probability that column `click` was drawn with.
    """
    sizes = {"rows": rows, "users": users, "days": days, "seed": seed}
    config = parse(SimulatorConfig, sizes, "ctr simulate")
    result = _write(config, output, file_format)
    if as_json:
        click.echo(json.dumps(result))
    else:
        Console().print(_table(result))
        click.echo(f"{result['files']} {file_format} files in {output}")


def _write(
    config: SimulatorConfig, output: Path, file_format: "LogFormat"
) -> dict[str, Any]:
    """Writes the log, with a bar on stderr if that takes long; returns the summary."""
    from data.simulator.writing import write_log

    bar = Progress(
        TextColumn("simulating"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} rows"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("rows", total=config.rows)
    started = time.monotonic()

    def advance(rows: int) -> None:
        bar.advance(task, rows)
        waited = time.monotonic() - started
        if not bar.live.is_started and waited > _PATIENCE_SECONDS:
            bar.start()

    try:
        written = write_log(config, output, file_format, advance)
    finally:
        bar.stop()
    totals = written.totals
    return {
        "output": str(output),
        "format": file_format,
        "files": len(written.files),
        "bytes": written.bytes,
        "seed": config.seed,
        "days": config.days,
        **dataclasses.asdict(totals),
        "ctr": totals.clicks / totals.rows,
    }


def _table(result: dict[str, Any]) -> Table:
    """The summary for people."""

    def gauc(value: float | None) -> str:
        return "undefined: no user has two rows" if value is None else f"{value:.4f}"

    table = Table(title="simulated log", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name in ("rows", "users", "items", "days", "clicks"):
        table.add_row(name, f"{result[name]:,}")
    table.add_row("click rate", f"{result['ctr']:.4f}")
    table.add_row("true GAUC", gauc(result["true_gauc"]))
    table.add_row("true GAUC, last day", gauc(result["true_gauc_last_day"]))
    if result["gauc_users"] < result["users"]:
        table.add_row("users in true GAUC", f"{result['gauc_users']:,}")
    table.add_row("MiB", f"{result['bytes'] / 2**20:.1f}")
    return table

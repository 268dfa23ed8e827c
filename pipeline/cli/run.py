"""``ctr run``: the whole DAG on this machine."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from data.errors import RunError
from pipeline.cli.options import config_options, input_option, root_option
from pipeline.cli.progress import RunProgress
from pipeline.cli.tables import (
    component_table,
    data_check_table,
    data_line,
    metric_notes,
    print_line,
    slice_table,
    table_console,
    verdict_lines,
)

NO_GATES = (
    "no gates in evaluate.gates: the model will be neither blessed nor pushed; "
    "docs/metrics.md shows gates"
)


@click.command()
@config_options
@input_option()
@root_option()
@click.option("--wait", is_flag=True, help="Wait for another run under this root.")
@click.option(
    "--without-baseline",
    is_flag=True,
    help="Compare with no earlier model, as in a first run.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("-v", "--verbose", is_flag=True, help="Let the libraries log.")
def run(
    config: Path | None,
    preset: str | None,
    input_base: str | None,
    root: Path,
    wait: bool,
    without_baseline: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Run the whole pipeline on this machine.

    Ends with the metrics by slice, the verdict and where the model is. Exit code 1 if
    a component failed or the model is not blessed.
    """
    from pipeline.config import load

    settings = load(config, preset)
    gates = settings.evaluate.gates
    if without_baseline:
        settings = settings.without_baseline()
    console = Console(stderr=True)
    with RunProgress(console) as progress:
        if not (gates.overall or gates.slices or gates.reference):
            progress.warn(NO_GATES)
        progress.started("start-up")
        if not verbose:
            from pipeline.cli.quiet import silence

            silence()
        from pipeline.run import run as run_pipeline

        progress.note(f"pipeline {settings.name}")
        result = run_pipeline(settings, input_base, root, progress, wait=wait)
    if as_json:
        click.echo(json.dumps(result, allow_nan=False))
    else:
        show(result, table_console())
    if not result["verdict"]["blessed"]:
        raise RunError("the model is not blessed, so it was not pushed; reasons above")


def show(result: dict[str, Any], console: Console) -> None:
    """Prints a summary as tables.

    Args:
        result: summary of a run.
        console: where to.
    """
    console.print(component_table(result["components"]))
    error = result.get("error")
    if error:
        for line in f"error: {error}".splitlines():
            print_line(console, line)
    if result["data"]:
        print_line(console, data_line(result["data"]))
    checks = result.get("data_checks")
    if checks:
        table = data_check_table(checks)
        if table is not None:
            console.print(table)
        print_line(console, f"data checks: {checks['reason']}")
    if result["slices"]:
        console.print(slice_table(result["slices"]))
        for note in metric_notes(result["slices"][0]):
            print_line(console, note)
    _show_outcome(result, console)


def _show_outcome(result: dict[str, Any], console: Console) -> None:
    """Prints what became of the model, as far as the run came."""
    if result["slices"] is not None:
        wanted = result["config"]["evaluate"].get("baseline", True)
        none = "none yet (first run)" if wanted else "left out"
        print_line(console, f"baseline: {result['baseline'] or none}")
    if result["verdict"]:
        for line in verdict_lines(result["verdict"]):
            console.print(line, highlight=False, soft_wrap=True)
    for name, key in (
        ("pushed", "pushed"),
        ("evaluation", "evaluation"),
        ("summary", "file"),
    ):
        if result[key] or not result.get("error"):
            print_line(console, f"{name}: {result[key] or 'none'}")

"""``ctr runs``: what was run here, and what came of it."""

import json
from pathlib import Path
from typing import Any

import click

from data.errors import UsageError
from pipeline.cli.history_tables import causes_table, metric_diff_table, runs_table
from pipeline.cli.options import root_option
from pipeline.cli.summaries import find_runs, open_summaries
from pipeline.cli.tables import print_line, table_console
from pipeline.run_diff import run_diff


@click.group()
def runs() -> None:
    """List runs, show one, or compare two."""


@runs.command("list")
@click.option("--pipeline", help="Only this pipeline.")
@root_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def list_runs(root: Path, pipeline: str | None, as_json: bool) -> None:
    """List runs, the newest last.

    A file that is not the summary of a run is named on stderr and hides no other.
    """
    summaries = open_summaries(root, pipeline)
    if as_json:
        keys = ("run", "pipeline", "verdict", "pushed", "error")
        rows = [{key: one.get(key) for key in keys} for one in summaries.runs]
        unreadable = list(summaries.faults.values())
        click.echo(json.dumps({"runs": rows, "unreadable": unreadable}))
        return
    if not summaries.runs:
        click.echo(f"no runs under {root}; `ctr run --preset demo` makes one")
        return
    table_console().print(runs_table(summaries.runs))


@runs.command()
@click.argument("run_id")
@root_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show(root: Path, run_id: str, as_json: bool) -> None:
    """Show one run: its numbers, and its artifacts from ML Metadata.

    RUN_ID may be the word `latest` or the start of an id.
    """
    (summary,) = find_runs(root, run_id)
    if not as_json:
        _check_shown(summary)
    from pipeline.cli.quiet import silence

    silence()
    from pipeline.history import History

    nodes = History(root / summary["pipeline"] / "metadata.db").nodes(summary["run"])
    summary["lineage"] = [
        {
            "component": node.component,
            "state": node.state,
            "inputs": node.inputs,
            "outputs": node.outputs,
        }
        for node in nodes
    ]
    if as_json:
        click.echo(json.dumps(summary))
        return
    from pipeline.cli.run import show as show_summary

    console = table_console()
    show_summary(summary, console)
    for node in nodes:
        for key, uris in node.outputs.items():
            print_line(console, f"{node.component}.{key}: {', '.join(uris)}")


def _check_shown(summary: dict[str, Any]) -> None:
    """Refuses a summary that the tables cannot be made from."""
    from pipeline.summary_schema import Shown, fault_of

    if reason := fault_of(Shown, summary):
        raise UsageError(
            f"run '{summary['run']}': its summary is of another version, or was edited: "
            f"{reason}; --json shows it as it is"
        )


@runs.command()
@click.argument("first")
@click.argument("second")
@root_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def diff(root: Path, first: str, second: str, as_json: bool) -> None:
    """Show what differs between two runs: settings, code, data, metrics.

    FIRST and SECOND may be the word `latest` or the start of an id.
    """
    result = run_diff(*find_runs(root, first, second))
    if as_json:
        click.echo(json.dumps(result))
        return
    console = table_console()
    print_line(console, f"first: {result['runs'][0]}, {result['verdict'][0]}")
    print_line(console, f"second: {result['runs'][1]}, {result['verdict'][1]}")
    console.print(causes_table(result["causes"] | result["data"]))
    if result["metrics"]:
        console.print(metric_diff_table(result["metrics"]))

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
from pipeline.root_folder import root_flag
from pipeline.run_diff import run_diff
from pipeline.run_files import running_pipelines

pipeline_option = click.option("--pipeline", help="Only this pipeline.")


@click.group()
def runs() -> None:
    """List runs, show one, or compare two."""


@runs.command("list")
@pipeline_option
@root_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def list_runs(root: Path, pipeline: str | None, as_json: bool) -> None:
    """List runs, the newest last, and the pipelines that one is running in.

    A file that is not the summary of a run is named on stderr and hides no other.
    """
    summaries = open_summaries(root, pipeline)
    running = running_pipelines(root, pipeline)
    if as_json:
        keys = ("run", "pipeline", "verdict", "pushed", "error")
        rows = [{key: one.get(key) for key in keys} for one in summaries.runs]
        unreadable = list(summaries.faults.values())
        found = {"runs": rows, "running": running, "unreadable": unreadable}
        click.echo(json.dumps(found))
        return
    if not summaries.runs and not running:
        remedy = f"`ctr run --preset demo{root_flag(root)}` makes one"
        click.echo(f"no runs under {root}; {remedy}")
        return
    table_console().print(runs_table(summaries.runs, running))


@runs.command()
@click.argument("run_id")
@pipeline_option
@root_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show(root: Path, run_id: str, pipeline: str | None, as_json: bool) -> None:
    """Show one run: its numbers, and its artifacts from ML Metadata.

    RUN_ID may be the word `latest` or the start of an id.
    """
    (summary,) = find_runs(root, run_id, pipeline=pipeline)
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
@pipeline_option
@root_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def diff(
    root: Path, first: str, second: str, pipeline: str | None, as_json: bool
) -> None:
    """Show what differs between two runs: settings, code, data, metrics.

    FIRST and SECOND may be the start of an id or the word `latest`, which beside an id
    is the latest run of the same pipeline.
    """
    result = run_diff(*find_runs(root, first, second, pipeline=pipeline))
    if as_json:
        click.echo(json.dumps(result))
        return
    console = table_console()
    print_line(console, f"first: {result['runs'][0]}, {result['verdict'][0]}")
    print_line(console, f"second: {result['runs'][1]}, {result['verdict'][1]}")
    ours, theirs = result["pipelines"]
    if ours != theirs:
        print_line(console, f"note: runs of two pipelines, {ours} and {theirs}")
    if causes := result["causes"] | result["data"]:
        console.print(causes_table(causes))
    else:
        text = "no difference in configuration, code, versions, input or rows"
        print_line(console, text)
    if result["metrics"]:
        console.print(metric_diff_table(result["metrics"]))

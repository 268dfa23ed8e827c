"""``ctr runs``: what was run here, and what came of it."""

import json
from pathlib import Path

import click

from pipeline.cli.history_tables import causes_table, metric_diff_table, runs_table
from pipeline.cli.options import root_option
from pipeline.cli.tables import table_console
from pipeline.run_diff import run_diff
from pipeline.run_files import find_summary, read_summaries


@click.group()
def runs() -> None:
    """List runs, show one, or compare two."""


@runs.command("list")
@click.option("--pipeline", help="Only this pipeline.")
@root_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def list_runs(root: Path, pipeline: str | None, as_json: bool) -> None:
    """List runs, the newest last."""
    summaries = read_summaries(root, pipeline)
    if as_json:
        keys = ("run", "pipeline", "verdict", "pushed", "error")
        rows = [{key: summary.get(key) for key in keys} for summary in summaries]
        click.echo(json.dumps({"runs": rows}))
        return
    if not summaries:
        click.echo(f"no runs under {root}; `ctr run --preset demo` makes one")
        return
    table_console().print(runs_table(summaries))


@runs.command()
@click.argument("run_id")
@root_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show(root: Path, run_id: str, as_json: bool) -> None:
    """Show one run: its numbers, and its artifacts from ML Metadata.

    RUN_ID may be the word `latest` or the start of an id.
    """
    summary = find_summary(root, run_id)
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
            console.print(
                f"{node.component}.{key}: {', '.join(uris)}",
                highlight=False,
                soft_wrap=True,
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
    result = run_diff(find_summary(root, first), find_summary(root, second))
    if as_json:
        click.echo(json.dumps(result))
        return
    console = table_console()
    console.print(f"first: {result['runs'][0]}, {result['verdict'][0]}")
    console.print(f"second: {result['runs'][1]}, {result['verdict'][1]}")
    console.print(causes_table(result["causes"] | result["data"]))
    if result["metrics"]:
        console.print(metric_diff_table(result["metrics"]))

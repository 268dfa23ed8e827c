"""``ctr runs``: what was run here, and what came of it."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from data.errors import UsageError, suggest
from pipeline.cli.tables import runs_table


def _summaries(root: Path, pipeline: str | None) -> list[dict[str, Any]]:
    """Summaries of all runs under a root, the oldest first."""
    if not root.is_dir():
        raise UsageError(f"--root {root}: no such folder; `ctr run` makes one")
    files = sorted(root.glob(f"{pipeline or '*'}/reports/*.json"))
    summaries = [json.loads(path.read_text("utf-8")) for path in files]
    return sorted(summaries, key=lambda summary: str(summary["run"]))


root_option = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Folder that holds all runs.",
)


@click.group()
def runs() -> None:
    """List runs, or show one."""


@runs.command("list")
@click.option("--pipeline", help="Only this pipeline.")
@root_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def list_runs(root: Path, pipeline: str | None, as_json: bool) -> None:
    """List runs, the newest last."""
    summaries = _summaries(root, pipeline)
    if as_json:
        keys = ("run", "pipeline", "verdict", "pushed", "error")
        rows = [{key: summary.get(key) for key in keys} for summary in summaries]
        click.echo(json.dumps({"runs": rows}))
        return
    if not summaries:
        click.echo(f"no runs under {root}; `ctr run --preset demo` makes one")
        return
    Console().print(runs_table(summaries))


@runs.command()
@click.argument("run_id")
@root_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show(root: Path, run_id: str, as_json: bool) -> None:
    """Show one run: its numbers, and its artifacts from ML Metadata.

    RUN_ID may be the word `latest` or the start of an id.
    """
    summaries = _summaries(root, None)
    found = (
        summaries[-1:]
        if run_id == "latest"
        else [s for s in summaries if str(s["run"]).startswith(run_id)]
    )
    if len(found) != 1:
        known = [str(summary["run"]) for summary in summaries]
        what = "several runs" if found else "no run"
        raise UsageError(
            f"{what} '{run_id}' under {root}.{suggest(run_id, known)} "
            "`ctr runs list` shows them"
        )
    summary = found[0]
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

    console = Console()
    show_summary(summary, console)
    for node in nodes:
        for key, uris in node.outputs.items():
            console.print(
                f"{node.component}.{key}: {', '.join(uris)}",
                highlight=False,
                soft_wrap=True,
            )

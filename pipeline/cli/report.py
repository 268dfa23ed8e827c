"""``ctr report``: one run as an HTML page to review, and as a model card."""

import json
from pathlib import Path

import click

from data.whole_files import write_whole
from pipeline.cli.options import LOCAL_FILE, root_option
from pipeline.cli.summaries import find_runs


@click.command()
@click.option(
    "--run",
    "run_id",
    default="latest",
    show_default=True,
    help="Id of the run, or its start.",
)
@root_option()
@click.option(
    "--output",
    type=LOCAL_FILE,
    help="HTML file.  [default: <root>/<pipeline>/reports/<run>.html]",
)
@click.option(
    "--card",
    type=LOCAL_FILE,
    help="Markdown file; also writes the model card.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def report(
    run_id: str, root: Path, output: Path | None, card: Path | None, as_json: bool
) -> None:
    """Write one offline HTML page of everything known of a run."""
    (summary,) = find_runs(root, run_id)
    from pipeline.cli.quiet import silence

    silence()
    from components.report.card import render_card
    from components.report.page import render_page
    from pipeline.report_data import gather

    content = gather(summary, root)
    target = output or root / summary["pipeline"] / "reports" / f"{summary['run']}.html"
    write_whole(target, render_page(content))
    if card:
        write_whole(card, render_card(content))
    if as_json:
        paths = {"report": str(target), "card": str(card) if card else None}
        click.echo(json.dumps(paths))
        return
    click.echo(f"report: {target}")
    if card:
        click.echo(f"card: {card}")

"""``ctr noise``: how far do metrics move when only the seed changes?"""

import dataclasses
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from components.gates_config import HIGHER_IS_BETTER
from pipeline.cli.options import config_options, input_option, root_option
from pipeline.cli.progress import RunProgress
from pipeline.cli.tables import table_console

if TYPE_CHECKING:
    from pipeline.noise import Noise


@click.command()
@config_options
@input_option()
@click.option(
    "--retrains",
    type=click.IntRange(min=2),
    default=3,
    show_default=True,
    help="How many times to train; each is a whole run.",
)
@root_option("Folder that holds all runs; these go to noise/ in it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def noise(
    config: Path | None,
    preset: str | None,
    input_base: str | None,
    retrains: int,
    root: Path,
    as_json: bool,
) -> None:
    """Train the same configuration with several seeds and print what that moves.

    A bound on a change that is tighter than this noise fails good models at random.
    """
    from pipeline.config import load

    settings = load(config, preset)
    with RunProgress(Console(stderr=True)) as progress:
        progress.started("start-up")
        from pipeline.cli.quiet import silence

        silence()
        from pipeline.noise import noise_by_metric, retrain

        summaries = retrain(settings, input_base, root, retrains, progress)
    found = noise_by_metric(summaries)
    if as_json:
        metrics = {name: dataclasses.asdict(one) for name, one in found.items()}
        runs = [summary["file"] for summary in summaries]
        click.echo(
            json.dumps({"pipeline": settings.name, "runs": runs, "metrics": metrics})
        )
        return
    _show(found, retrains, table_console())


def _show(found: "dict[str, Noise]", retrains: int, console: Console) -> None:
    """Prints the noise of each metric and what it means for gates."""
    table = Table(title=f"noise of {retrains} retrains", title_justify="left")
    table.add_column("metric")
    for name in ("mean", "sd", "sd, 95 %", "sd of a difference", "margin"):
        table.add_column(name, justify="right")
    table.add_column("as a gate", no_wrap=True)
    for name, one in found.items():
        low, high = one.deviation_ci95
        table.add_row(
            name,
            f"{one.mean:.4f}",
            f"{one.deviation:.5f}",
            f"{low:.5f} - {high:.5f}",
            f"{one.difference:.5f}",
            f"{one.margin:.5f}",
            _gate(name, one.margin),
        )
    console.print(table)
    notes = (
        "margin: two retrains that differ by the seed alone differ by more, in the bad "
        "direction, in one pair of twenty.",
        "non_inferior needs the margin and, on top, half the width of its interval.",
        f"{retrains} retrains tell a standard deviation only to within the interval "
        "above; more retrains narrow it.",
    )
    for note in notes:
        console.print(note, highlight=False, soft_wrap=True)


def _gate(name: str, margin: float) -> str:
    """The tightest bound on a change that this noise allows, to two digits."""
    if name not in HIGHER_IS_BETTER or margin == 0:
        return ""
    unit = 10.0 ** (math.floor(math.log10(margin)) - 1)
    bound = math.ceil(margin / unit) * unit
    if HIGHER_IS_BETTER[name]:
        return f"min_change: -{bound:.2g}"
    return f"max_change: {bound:.2g}"

"""``ctr profile``: where does the time of a training go, and what would change it?"""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from pipeline.cli.options import ANY_PATH, config_options, root_option
from pipeline.cli.progress import RunProgress
from pipeline.cli.tables import table_console

_BAR = 20


@click.command()
@config_options
@click.option(
    "--input",
    "input_base",
    type=ANY_PATH,
    help="Log to pack where nothing is packed yet below --root.",
)
@root_option()
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    help="Of each measurement.",
)
@click.option(
    "--compare", is_flag=True, help="Also measure the input pipeline of tutorials."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def profile(
    config: Path | None,
    preset: str | None,
    input_base: str | None,
    root: Path,
    seconds: float,
    compare: bool,
    as_json: bool,
) -> None:
    """Say where the time of a training goes on this machine, and what would change it.

    Takes the newest packed rows of the pipeline below --root; where there are none,
    the pipeline runs until its rows are packed.
    """
    from pipeline.config import load

    settings = load(config, preset)
    with RunProgress(Console(stderr=True)) as progress:
        progress.started("start-up")
        from pipeline.cli.quiet import silence

        silence()
        from pipeline.profile import run

        found = run(
            settings,
            input_base,
            root,
            progress,
            seconds=seconds,
            compare=compare,
            note=progress.note,
        )
    if as_json:
        click.echo(json.dumps(found, allow_nan=False))
    else:
        show(found, table_console())


def show(found: dict[str, Any], console: Console) -> None:
    """Prints a profile.

    Args:
        found: what ``--json`` prints.
        console: where to.
    """
    console.print(_cost_table(found))
    for line in _lines(found):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _cost_table(found: dict[str, Any]) -> Table:
    """Costs of an example by stage; shares are of the processor time of all of them."""
    costs = {**found["stages"], "step": found["step"]}
    total = sum(cost["cpu_us"] for cost in costs.values())
    table = Table(title="cost of an example", title_justify="left")
    table.add_column("stage")
    for name in ("wall us", "CPU us"):
        table.add_column(name, justify="right")
    table.add_column("share of CPU", no_wrap=True)
    for name, cost in found["stages"].items():
        table.add_row(name, *_cells(cost), _bar(cost["cpu_us"] / total))
    table.add_row(
        "input, all of these", *_cells(found["reading"]), "", end_section=True
    )
    copy = found["copy"]
    table.add_row("copy to device", *(_cells(copy) if copy else ("none here", "")), "")
    step = found["step"]
    table.add_row("step", *_cells(step), _bar(step["cpu_us"] / total), end_section=True)
    table.add_row("loop", *_cells(found["loop"]["cost"]), "")
    return table


def _cells(cost: dict[str, float]) -> tuple[str, str]:
    """Wall and processor microseconds."""
    return f"{cost['wall_us']:.3f}", f"{cost['cpu_us']:.3f}"


def _bar(share: float) -> str:
    """A share as a bar and a number."""
    return f"{'█' * round(share * _BAR):<{_BAR}} {share:4.0%}"


def _lines(found: dict[str, Any]) -> list[str]:
    """What stands below the table."""
    loop = found["loop"]
    lines = [
        f"rows: {found['sample_rows']:,} of {found['rows']:,} in {found['packed']}",
        f"machine: {found['cores']} cores, accelerator: {found['accelerator'] or 'none'}",
        f"loop: {loop['steps']:,} steps of {found['batch_size']:,} rows, "
        f"{loop['step_seconds'] * 1000:.2f} ms each, waiting for input "
        f"{loop['wait_share']:.0%}, {loop['examples_per_second']:,.0f} examples/s",
        found["verdict"]["sentence"],
    ]
    if found["recipe"]:
        one = found["recipe"]
        lines.append(
            f"published recipe on {one['rows']:,} rows: {one['recipe']['cpu_us']:.2f} us "
            f"CPU an example, ours {one['ours']['cpu_us']:.2f} us: "
            f"{one['ratio']:.1f} times as much"
        )
    advice = [one["line"] for one in found["advice"]]
    tried = ", ".join(one["setting"] for one in found["tried"]) or "nothing"
    return [*lines, *(advice or [f"no change helped by more than 3 %; tried {tried}"])]

"""``ctr check-serving``: does an exported model answer as it was evaluated?"""

import json
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from data import paths
from data.errors import DataError, RunError, UsageError
from pipeline.cli.options import ANY_PATH

# Where TFX's Trainer puts the model inside its artifact.
_OF_ARTIFACT = "Format-Serving"
_COLOURS = {"pass": "green", "fail": "red", "skipped": "yellow"}


@click.command("check-serving")
@click.option(
    "--model",
    type=ANY_PATH,
    required=True,
    help="SavedModel: a pushed version, or a Model artifact of a run.",
)
@click.option(
    "--examples",
    "locations",
    type=ANY_PATH,
    required=True,
    multiple=True,
    help="TFRecord file of raw rows, a folder of them, or an Examples artifact, of which "
    "the eval split is taken; repeatable.",
)
@click.option("--rows", type=click.IntRange(1, 100_000), help="Rows to replay.")
@click.option("--max-size-mib", type=float, help="Largest size of the model on disk.")
@click.option(
    "--max-p99-ms", type=float, help="Largest 99th percentile of a request of one row."
)
@click.option("--timeout-seconds", type=float, help="When to give up.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def check_serving(
    model: str, locations: tuple[str, ...], as_json: bool, **limits: float | None
) -> None:
    """Replay rows and odd requests through an exported model, in a clean process.

    The same check as before a push. Exit code 1 if anything fails.
    """
    from components.serving_check.config import ServingCheckConfig
    from data.settings import parse
    from pipeline.cli.quiet import silence

    given = {name: value for name, value in limits.items() if value is not None}
    config = parse(ServingCheckConfig, given, "options")
    silence()
    folder = _saved_model(model)
    rows = _rows(locations, config.rows)
    from components.serving_check.check import check_serving as check
    from pipeline.cli.tables import table_console

    try:
        result = check(folder, rows, config)
    except DataError as error:
        raise UsageError(f"--examples: {error}") from None
    if as_json:
        click.echo(json.dumps(result.to_json(), allow_nan=False))
    else:
        show(result.to_json(), table_console())
    if not result.passed:
        raise RunError(result.reason)


def _saved_model(model: str) -> str:
    """The folder with ``saved_model.pb``."""
    if not paths.exists(model):
        raise UsageError(f"--model {model}: no such folder")
    base = model.rstrip("/")
    for folder in (base, f"{base}/{_OF_ARTIFACT}"):
        if paths.exists(f"{folder}/saved_model.pb"):
            return folder
    raise UsageError(
        f"--model {model}: no SavedModel here; name a pushed version, such as "
        "serving/1795980231, or a Model artifact of a run"
    )


def _rows(locations: tuple[str, ...], count: int) -> list[bytes]:
    """Rows of all places, in turns."""
    from components.serving_check.rows import first_rows, shard_files

    files: list[str] = []
    for location in locations:
        if not paths.exists(location):
            raise UsageError(f"--examples {location}: no such file or folder")
        split = f"{location.rstrip('/')}/Split-eval"
        files += shard_files(split if paths.is_dir(split) else location)
    try:
        return first_rows(files, count)
    except DataError as error:
        raise UsageError(f"--examples: {error}") from None


def show(result: dict[str, Any], console: Console) -> None:
    """Prints a result as a table.

    Args:
        result: what ``--json`` prints.
        console: where to.
    """
    from pipeline.cli.tables import cell

    table = Table(title="serving check", title_justify="left")
    for name in ("check", "signature", "outcome"):
        table.add_column(name, no_wrap=True)
    table.add_column("figures")
    for check in result["checks"]:
        colour = _COLOURS[check["status"]]
        table.add_row(
            check["check"],
            cell(check["signature"] or ""),
            f"[{colour}]{check['status']}[/{colour}]",
            cell(check["text"]),
        )
    console.print(table)

"""``ctr rollback``: an earlier model served again."""

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from data.errors import UsageError
from pipeline.cli.history_tables import versions_table
from pipeline.cli.options import ANY_PATH, root_option
from pipeline.cli.tables import table_console
from pipeline.preset_files import NAME_PATTERN

if TYPE_CHECKING:
    from components.serving_versions import Version


@click.command()
@click.argument("pipeline", required=False)
@root_option()
@click.option(
    "--serving", type=ANY_PATH, help="Serving folder instead, also gs:// or s3://."
)
@click.option("--to", type=int, help="Version to go back to.")
@click.option("--list", "listed", is_flag=True, help="Only list the versions.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def rollback(
    pipeline: str | None,
    root: Path,
    serving: str | None,
    to: int | None,
    listed: bool,
    as_json: bool,
) -> None:
    """Serve an earlier model again.

    Copies an earlier version to a number above all, which model servers take up as they
    do any push. Without --to it is the newest one with another model that no roll-back
    went away from. The next runs do not take the model that was left as their baseline,
    on this machine or on a cluster.
    """
    if (pipeline is None) == (serving is None):
        raise UsageError("pass either PIPELINE or --serving FOLDER")
    if listed and to is not None:
        raise UsageError("--list: goes without --to; remove one")
    from pipeline.cli.quiet import silence

    silence()
    from components.serving_versions import roll_back, versions

    base = serving or _serving_folder(root, pipeline)
    served = None if listed else roll_back(base, int(time.time()), to)[0]
    _show(base, served, versions(base), as_json)


def _serving_folder(root: Path, pipeline: str | None) -> str:
    """The serving folder of a pipeline under a root."""
    assert pipeline is not None
    if not re.fullmatch(NAME_PATTERN, pipeline):
        raise UsageError(f"{pipeline}: must be the name of a pipeline, not a path")
    folder = (root / pipeline / "serving").resolve()
    if not folder.is_dir():
        raise UsageError(
            f"{folder}: no pushed versions here; `ctr runs list` shows the pipelines, "
            "--root where they are"
        )
    return str(folder)


def _show(
    base: str, left: "Version | None", found: "list[Version]", as_json: bool
) -> None:
    """Prints the versions, and from which one it went to which."""
    served = found[-1]
    rows = [
        {
            "version": one.number,
            "model": one.digest[:12],
            "withdrawn": one.withdrawn,
            "served": one is served,
        }
        for one in found
    ]
    if as_json:
        result = {"serving": base, "versions": rows}
        click.echo(json.dumps(result | ({"left": left.number} if left else {})))
        return
    table_console().print(versions_table(rows))
    if left:
        click.echo(f"served: {base}/{served.number}, the model before {left.number}")

"""``ctr rollback``: an earlier model served again."""

import functools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from data.errors import UsageError
from pipeline.cli.options import root_option
from pipeline.cli.tables import table_console, versions_table

if TYPE_CHECKING:
    from components.serving_versions import Version


@click.command()
@click.argument("pipeline", required=False)
@root_option()
@click.option("--serving", help="Serving folder instead, also gs:// or s3://.")
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
    went away from. The model that was served is no baseline of later runs.
    """
    if (pipeline is None) == (serving is None):
        raise UsageError("pass either PIPELINE or --serving FOLDER")
    if listed and to is not None:
        raise UsageError("--list: goes without --to; remove one")
    from pipeline.cli.quiet import silence

    silence()
    from components.serving_versions import roll_back, versions
    from pipeline.local_runner import Folders
    from pipeline.run_lock import run_lock

    if serving is not None:
        served = None if listed else roll_back(serving, int(time.time()), to)[0]
        _show(serving, served, versions(serving), as_json)
        return
    assert pipeline is not None
    if Path(pipeline).name != pipeline:
        raise UsageError(f"{pipeline}: must be the name of a pipeline, not a path")
    folders = Folders((root / pipeline).resolve())
    if not folders.serving.is_dir():
        raise UsageError(
            f"{folders.serving}: no pushed versions here; `ctr runs list` shows the "
            "pipelines, --root where they are"
        )
    base = str(folders.serving)
    if listed:
        _show(base, None, versions(base), as_json)
        return
    from pipeline.blessings import follow_withdrawals

    follow = functools.partial(follow_withdrawals, folders.metadata)
    with run_lock(folders.base):
        served = roll_back(base, int(time.time()), to, marked=follow)[0]
        found = versions(base)
    _show(base, served, found, as_json)


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

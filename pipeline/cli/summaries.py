"""The runs under a root, for every command that looks back."""

from pathlib import Path
from typing import Any

import click

from pipeline.run_files import LATEST, Summaries, read_summaries


def open_summaries(root: Path, pipeline: str | None = None) -> Summaries:
    """Reads the summaries, and names on stderr the files that are none.

    Args:
        root: folder that holds all runs.
        pipeline: name of the only pipeline to read, or None for all.

    Returns:
        The summaries.

    Raises:
        UsageError: there is no such folder.
    """
    summaries = read_summaries(root, pipeline)
    _warn(summaries)
    return summaries


def find_runs(
    root: Path, *run_ids: str, pipeline: str | None = None
) -> list[dict[str, Any]]:
    """Reads the summaries of some runs, and warns of files that are none.

    Args:
        root: folder that holds all runs.
        run_ids: ids, starts of ids, or ``latest``; beside an id that is the latest run
            of the same pipeline.
        pipeline: name of the only pipeline to look into, or None for all.

    Returns:
        One summary an id.

    Raises:
        UsageError: an id means no run or several, or one whose summary is damaged.
    """
    summaries = read_summaries(root)
    by_id = {one: summaries.find(one, pipeline) for one in run_ids if one != LATEST}
    beside = next((run["pipeline"] for run in by_id.values()), pipeline)
    found = [by_id.get(one) or summaries.find(one, beside) for one in run_ids]
    _warn(summaries)
    return found


def _warn(summaries: Summaries) -> None:
    """Names the files that could not be read: one may be the run that is missed."""
    for fault in summaries.faults.values():
        click.echo(f"warning: {fault}", err=True)

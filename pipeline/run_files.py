"""The summaries that runs left on disk."""

import json
from pathlib import Path
from typing import Any

from data.errors import UsageError, suggest


def read_summaries(root: Path, pipeline: str | None = None) -> list[dict[str, Any]]:
    """Reads the summaries of all runs under a root.

    Args:
        root: folder that holds all runs.
        pipeline: name of the only pipeline to read, or None for all.

    Returns:
        The summaries, the oldest first.

    Raises:
        UsageError: there is no such folder, or a file is no summary.
    """
    if not root.is_dir():
        raise UsageError(f"--root {root}: no such folder; `ctr run` makes one")
    files = sorted(root.glob(f"{pipeline or '*'}/reports/*.json"))
    summaries = [_read(path) for path in files]
    return sorted(summaries, key=lambda summary: str(summary["run"]))


def _read(path: Path) -> dict[str, Any]:
    """Reads one summary."""
    try:
        summary = json.loads(path.read_text("utf-8"))
    except ValueError:  # of JSON or of UTF-8
        summary = None
    if not isinstance(summary, dict) or not summary.keys() >= _KEYS:
        raise UsageError(
            f"{path}: not the summary of a run, or cut short; move it elsewhere"
        )
    return summary


# Without these a summary can neither be found nor shown.
_KEYS = {"run", "pipeline", "config", "components", "slices", "verdict"}


def find_summary(root: Path, run_id: str) -> dict[str, Any]:
    """Reads the summary of one run.

    Args:
        root: folder that holds all runs.
        run_id: an id, the start of one, or ``latest``.

    Returns:
        The summary.

    Raises:
        UsageError: no run or several runs are meant.
    """
    summaries = read_summaries(root)
    found = (
        summaries[-1:]
        if run_id == "latest"
        else [s for s in summaries if str(s["run"]).startswith(run_id)]
    )
    if len(found) == 1:
        return found[0]
    known = [str(summary["run"]) for summary in summaries]
    what = "several runs" if found else "no run"
    raise UsageError(
        f"{what} '{run_id}' under {root}.{suggest(run_id, known)} "
        "`ctr runs list` shows them"
    )

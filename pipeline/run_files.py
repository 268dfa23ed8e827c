"""The summaries that runs left on disk."""

import json
from pathlib import Path
from typing import Any

import pydantic

from data.errors import UsageError, suggest
from data.faults import fault_lines


class _Metric(pydantic.BaseModel):
    """A metric; undefined ones have no value."""

    value: float | None = None


class _Slice(pydantic.BaseModel):
    """Metrics of the rows that share some values."""

    slice: dict[str, str | int | float | bool | None]
    rows: int
    metrics: dict[str, _Metric]


class _Verdict(pydantic.BaseModel):
    """What the gates said."""

    blessed: bool


class _Summary(pydantic.BaseModel):
    """What every reader of a summary takes for granted."""

    run: str
    pipeline: str
    config: dict[str, Any]
    components: list[dict[str, Any]]
    data: dict[str, Any] | None
    slices: list[_Slice] | None
    verdict: _Verdict | None
    pushed: str | None
    error: str | None


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
    return sorted(summaries, key=lambda summary: summary["run"])


def _read(path: Path) -> dict[str, Any]:
    """Reads one summary."""
    try:
        summary = json.loads(path.read_text("utf-8"))
        _Summary.model_validate(summary, strict=True)
    except pydantic.ValidationError as error:
        (reason, *_) = fault_lines(_Summary, error.errors())
        raise UsageError(
            f"{path}: not the summary of a run: {reason}; move it elsewhere"
        ) from None
    except (ValueError, RecursionError):  # of JSON or of UTF-8
        raise UsageError(
            f"{path}: not the summary of a run, or cut short; move it elsewhere"
        ) from None
    found: dict[str, Any] = summary
    return found


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
        else [s for s in summaries if s["run"].startswith(run_id)]
    )
    if len(found) == 1:
        return found[0]
    known = [summary["run"] for summary in summaries]
    what = "several runs" if found else "no run"
    raise UsageError(
        f"{what} '{run_id}' under {root}.{suggest(run_id, known)} "
        "`ctr runs list` shows them"
    )

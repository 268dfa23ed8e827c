"""The summaries that runs left on disk."""

import fcntl
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data import paths
from data.errors import CtrError, UsageError, suggest
from pipeline.root_folder import root_flag
from pipeline.run_lock import LOCK_FILE
from pipeline.summary_schema import Listed, fault_of

LATEST = "latest"


@dataclass(frozen=True)
class Summaries:
    """The summaries under a root.

    Attributes:
        root: folder that holds all runs.
        runs: what could be read, the oldest first.
        faults: for each file that is no summary, one line that says so.
    """

    root: Path
    runs: list[dict[str, Any]]
    faults: dict[Path, str]

    def find(self, run_id: str, pipeline: str | None = None) -> dict[str, Any]:
        """The summary of one run.

        Args:
            run_id: an id, the start of one, or ``latest``.
            pipeline: name of the only pipeline to look into, or None for all.

        Returns:
            The summary.

        Raises:
            UsageError: no run or several runs are meant, or one whose summary cannot
                be read.
        """
        runs = [one for one in self.runs if pipeline in (None, one["pipeline"])]
        found = (
            runs[-1:]
            if run_id == LATEST
            else [one for one in runs if one["run"].startswith(run_id)]
        )
        if len(found) == 1:
            return found[0]
        for file, fault in self.faults.items():
            if not found and file.stem.startswith(run_id):
                raise UsageError(fault)
        known = [one["run"] for one in runs]
        what = "several runs" if found else "no run"
        of = f" of pipeline '{pipeline}'" if pipeline else ""
        raise UsageError(
            f"{what} '{run_id}'{of} under {self.root}.{suggest(run_id, known)} "
            f"`ctr runs list{root_flag(self.root)}` shows them"
        )


def read_summaries(root: Path, pipeline: str | None = None) -> Summaries:
    """Reads the summaries of all runs under a root.

    Args:
        root: folder that holds all runs.
        pipeline: name of the only pipeline to read, or None for all.

    Returns:
        The summaries; a file that is none hides no other.

    Raises:
        UsageError: there is no such folder.
    """
    if not root.is_dir():
        raise UsageError(f"--root {root}: no such folder; `ctr run` makes one")
    runs: list[dict[str, Any]] = []
    faults: dict[Path, str] = {}
    for path in sorted(root.glob(f"{pipeline or '*'}/reports/*.json")):
        try:
            runs.append(_read(path))
        except CtrError as error:
            faults[path] = str(error)
    return Summaries(root, sorted(runs, key=lambda one: one["run"]), faults)


def running_pipelines(root: Path, pipeline: str | None = None) -> list[str]:
    """Names the pipelines that a run is at work in.

    Args:
        root: folder that holds all runs.
        pipeline: name of the only pipeline to look at, or None for all.

    Returns:
        Names of their folders, sorted. A killed run holds no lock, so it is not there.
    """
    files = sorted(root.glob(f"{pipeline or '*'}/{LOCK_FILE}"))
    return [file.parent.name for file in files if file.is_file() and _is_held(file)]


def _is_held(lock: Path) -> bool:
    """Whether a run holds a lock; takes a shared one for a moment to find out."""
    try:
        with open(lock, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # without the right to look, nothing is known of it
        return False
    return False


def find_summary(root: Path, run_id: str) -> dict[str, Any]:
    """Reads the summary of one run; see ``Summaries.find``."""
    return read_summaries(root).find(run_id)


def _read(path: Path) -> dict[str, Any]:
    """Reads one summary."""
    try:
        with paths.open_read(str(path)) as file:
            content = json.loads(file.read())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):  # of JSON or of UTF-8
        raise UsageError(
            f"{path}: not the summary of a run, or cut short; move it elsewhere"
        ) from None
    if reason := fault_of(Listed, content):
        raise UsageError(
            f"{path}: not the summary of a run: {reason}; move it elsewhere"
        )
    found: dict[str, Any] = content
    if found["run"] != path.stem:  # a report is written by this name
        raise UsageError(
            f"{path}: holds the run '{found['run']}', which is not its name; rename it"
        )
    return found

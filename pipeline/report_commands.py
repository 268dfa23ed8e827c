"""How to repeat a run."""

import shlex
from pathlib import Path
from typing import Any


def reproduce(summary: dict[str, Any], root: Path) -> list[str]:
    """Writes down the command lines that repeat a run.

    Args:
        summary: of the run.
        root: folder that holds all runs.

    Returns:
        The lines; they expect the configuration in ``run.yaml``.
    """
    lines = []
    code = summary.get("code", {})
    if "commit" in code:
        stack = "older" if summary["stack"]["tfx"] < "1.17" else "newer"
        lines = [f"git checkout {code['commit']}", f"make setup STACK={stack}"]
    base = Path(root, summary["pipeline"]).resolve()
    simulated = summary["config"].get("simulate") is not None and Path(
        summary["input"]
    ).is_relative_to(base / "input")
    command = ["ctr", "run", "--config", "run.yaml"]
    if not simulated:
        command += ["--input", summary["input"]]
    shown = ["ctr", "report", "--run", summary["run"], "--root", str(root)]
    return [*lines, shlex.join(command), shlex.join(shown)]

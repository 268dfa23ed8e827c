"""What a result file says about the machine and the versions it was measured on."""

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

PACKAGES = ("tfx", "tensorflow", "keras", "apache-beam", "numpy", "pyarrow")


def describe() -> dict[str, Any]:
    """Processor, cores, Python, packages and commit.

    Returns:
        Plain values for a JSON file; the commit ends in ``+`` where the tree had
        changes.
    """
    info = Path("/proc/cpuinfo").read_text("utf-8")
    model = next(line for line in info.splitlines() if line.startswith("model name"))
    return {
        "processor": model.split(":", 1)[1].strip(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "commit": _git("describe", "--always", "--dirty=+", "--exclude=*"),
    }


def _git(*arguments: str) -> str:
    """Output of a git command, ``unknown`` outside a checkout."""
    answer = subprocess.run(
        ["git", *arguments], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or "unknown"

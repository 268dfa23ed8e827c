"""Which code a run was made with."""

import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent


def code_version() -> dict[str, Any]:
    """Tells the version of this code.

    Returns:
        ``version`` of the package; in a checkout also ``commit`` and ``modified``,
        whether tracked files differ from it.
    """
    code: dict[str, Any] = {"version": metadata.version("tfx-ctr")}
    if shutil.which("git") and (CHECKOUT / ".git").exists():
        commit = _git("rev-parse", "HEAD")
        if commit:
            modified = bool(_git("status", "--porcelain", "--untracked-files=no"))
            code |= {"commit": commit, "modified": modified}
    return code


def _git(*arguments: str) -> str:
    """What git answers about the checkout; empty if it refuses."""
    command = ["git", "-C", str(CHECKOUT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""

"""The folder of all runs: its default, and how a hint names another."""

import shlex
from pathlib import Path

DEFAULT_ROOT = Path("runs")


def root_flag(root: Path) -> str:
    """`` --root PATH`` for a command that a hint names; empty for the default."""
    return "" if root == DEFAULT_ROOT else f" --root {shlex.quote(str(root))}"

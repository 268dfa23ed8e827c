"""Configurations that ship with the project; a module of its own, quick to import."""

from pathlib import Path

PRESETS = Path(__file__).parent / "presets"
# What a pipeline may be called; its folder has that name.
NAME_PATTERN = r"^[a-z][a-z0-9\-]{0,62}$"


def preset_names() -> list[str]:
    """Names of the presets, sorted."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))

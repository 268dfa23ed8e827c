"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pipeline.preset_files import preset_names


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--config`` and ``--preset``, of which one is needed."""
    names = ", ".join(preset_names())
    command = click.option(
        "--preset", help=f"A configuration that ships with ctr: {names}."
    )(command)
    return click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        help="YAML file of the pipeline.",
    )(command)


def root_option(
    text: str = "Folder that holds all runs.",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes the option ``--root``.

    Args:
        text: its help.

    Returns:
        The decorator of a command.
    """
    return click.option(
        "--root",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("runs"),
        show_default=True,
        help=text,
    )

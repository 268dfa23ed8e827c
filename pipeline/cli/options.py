"""Options that several commands share."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pipeline.preset_files import preset_names
from pipeline.root_folder import DEFAULT_ROOT


class PathType(click.Path):
    """A path that is not empty, as an unset variable of a shell would make it.

    An empty one stands for the folder one is in, or for none given, by who reads it.
    """

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Refuses an empty path; the rest is click's."""
        if not os.fspath(value):
            self.fail("is empty; pass a path, or leave the option out", param, ctx)
        return super().convert(value, param, ctx)


# Local or in a store, as text; whether it can be read is told where it is.
ANY_PATH = PathType(readable=False)
LOCAL_FILE = PathType(path_type=Path, dir_okay=False)


def input_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes the option ``--input`` of the commands that run the pipeline."""
    return click.option(
        "--input", "input_base", type=ANY_PATH, help="Folder or file of the log."
    )


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--config`` and ``--preset``, of which one is needed."""
    names = ", ".join(preset_names())
    command = click.option(
        "--preset", help=f"A configuration that ships with ctr: {names}."
    )(command)
    return click.option(
        "--config",
        type=LOCAL_FILE,
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
        type=PathType(path_type=Path, file_okay=False),
        default=DEFAULT_ROOT,
        show_default=True,
        help=text,
    )

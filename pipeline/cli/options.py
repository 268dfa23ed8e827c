"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--config`` and ``--preset``, of which one is needed."""
    command = click.option("--preset", help="A configuration that ships with ctr.")(
        command
    )
    return click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        help="YAML file of the pipeline.",
    )(command)

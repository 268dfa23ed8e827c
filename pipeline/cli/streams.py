"""The standard streams, and a terminal's width, as they may really be."""

import contextlib
import io
import os
import sys
from typing import Any

import click


class _Stdout(io.FileIO):
    """Stdout as a file whose errors name it, as those of other files do."""

    def write(self, block: Any) -> int:
        """Writes bytes; returns how many."""
        try:
            return super().write(block)
        except OSError as error:
            # The rest goes nowhere: Python would try once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            error.filename = "stdout"
            raise


def prepare() -> None:
    """Makes the streams such that everything can be printed."""
    _open_closed()
    given = sys.stdout
    # With PYTHONUNBUFFERED line by line, so that the log of a pod keeps up.
    at_once = isinstance(given, io.TextIOWrapper) and given.write_through
    # A terminal without some letter shows a sign in its place.
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Stdout(1, "w", closefd=False)),
        encoding=given.encoding if given else "utf-8",
        errors="replace",
        line_buffering=at_once or os.isatty(1),
    )
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")
    if os.environ.get("COLUMNS") == "0":
        # Some terminals do not know their width; rich takes it at its word.
        del os.environ["COLUMNS"]


def _open_closed() -> None:
    """Sends what goes to a closed stream (``>&-``) nowhere.

    A file that is opened later would get the stream's number, and all that libraries
    print would go into it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")


def print_error(text: str) -> None:
    """Prints a line on stderr, if that takes it; the exit code tells in any case."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)

"""Errors that a user reads as one line: rule, value, place, remedy.

The command line prints ``str(error)`` and leaves with ``error.exit_code``: 1 for a
failed run, gate or input, 2 for bad usage or configuration.
"""

import difflib
from collections.abc import Iterable

# The place stands at the front of a line and the remedy at its end.
_FRONT, _END = 1_500, 500


class CtrError(Exception):
    """Base of every error that is meant for the user's eyes."""

    exit_code = 1

    def __init__(self, *lines: str) -> None:
        """Makes each line printable.

        Args:
            lines: one a fault; what a file holds may stand in them as it is.
        """
        super().__init__(*map(one_line, lines))

    def __str__(self) -> str:
        return "\n".join(self.args)


class DataError(CtrError):
    """Input data broke a rule of the data contract."""


class RunError(CtrError):
    """A pipeline run, or one of its components, failed."""


class ConfigError(CtrError):
    """A configuration file is wrong."""

    exit_code = 2


class UsageError(CtrError):
    """A command was called with arguments that do not fit."""

    exit_code = 2


def one_line(text: str) -> str:
    """A text as one line of bounded length that only shows.

    Names and values come from files: a line end in them would forge a line, and an
    escape sequence would command the terminal.

    Args:
        text: any text.

    Returns:
        The text with line ends and control characters as Python's escapes, and
        without its middle if it is very long.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    if len(text) <= _FRONT + _END:
        return text
    return f"{text[:_FRONT]} [...] {text[-_END:]}"


def suggest(name: str, known: Iterable[str]) -> str:
    """Returns `` Did you mean 'x'?`` for the closest known name, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""

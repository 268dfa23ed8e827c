"""Errors that a user reads as one line: rule, value, place, remedy.

The command line prints ``str(error)`` and leaves with ``error.exit_code``: 1 for a
failed run, gate or input, 2 for bad usage or configuration.
"""

import difflib
from collections.abc import Iterable


class CtrError(Exception):
    """Base of every error that is meant for the user's eyes."""

    exit_code = 1


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


def suggest(name: str, known: Iterable[str]) -> str:
    """Returns `` Did you mean 'x'?`` for the closest known name, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""

"""A folder or file without rights, also for tests that run as root."""

import builtins
import errno
import os
from pathlib import Path

import pytest


def make_unreadable(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Lets the system refuse to read a folder or file, as after ``chmod 000``.

    Args:
        monkeypatch: undoes it.
        path: what cannot be read any more; that it is there can still be seen.
    """
    barred = os.path.abspath(path)

    def refusing(call, below_only):
        def checked(given=".", *arguments, **named):
            name = os.fspath(given) if not isinstance(given, int) else ""
            is_below = os.path.abspath(name).startswith(f"{barred}/")
            is_it = os.path.abspath(name) == barred
            if name and (is_below or (is_it and not below_only)):
                raise PermissionError(
                    errno.EACCES, os.strerror(errno.EACCES), os.fspath(given)
                )
            return call(given, *arguments, **named)

        return checked

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name), below_only=False))
    monkeypatch.setattr(os, "stat", refusing(os.stat, below_only=True))
    monkeypatch.setattr(builtins, "open", refusing(builtins.open, below_only=False))

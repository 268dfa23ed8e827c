"""An end for a process whose caller was killed."""

import os
import threading


def end_with_stdin() -> None:
    """Ends this process as soon as its stdin does.

    The caller holds the other end of that pipe, which the system closes however the
    caller ends; after a SIGKILL nobody else would end what it started.
    """
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    """Waits for the end of stdin."""
    while os.read(0, 1):
        pass
    os._exit(1)

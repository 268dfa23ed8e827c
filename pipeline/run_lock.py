"""One run at a time under one folder."""

import contextlib
import datetime
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from data.errors import UsageError

LOCK_FILE = ".lock"
# Tries before somebody is at work: `ctr runs list` holds the lock for a moment.
_LOOKS = 3


@contextlib.contextmanager
def run_lock(
    folder: Path,
    *,
    wait: bool = False,
    told: Callable[[str], None] | None = None,
    pause: float = 0.5,
) -> Iterator[None]:
    """Holds the folder of a pipeline for one run.

    The operating system lets go of the lock with the process, however that ends, so a
    killed run blocks nobody. The file stays; what it holds is only for people.

    Args:
        folder: of the pipeline; made if absent.
        wait: wait for the other run instead of refusing.
        told: hears, once, that it waits and for whom.
        pause: seconds between two tries.

    Raises:
        UsageError: another run holds it, and ``wait`` is not given.
        OSError: the disk is full, or rights are missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK_FILE, "a+", encoding="utf-8") as file:
        looks = _LOOKS
        while not _taken(file):
            if looks:
                looks -= 1
                time.sleep(min(pause, 0.1))
                continue
            holder = _holder(file)
            if not wait:
                raise UsageError(
                    f"{folder}: another run is at work here ({holder}); wait for it, "
                    "as `ctr run --wait` does, or use another --root"
                )
            if told is not None:
                told(f"waits for another run ({holder})")
                told = None
            time.sleep(pause)
        _sign(file)
        yield


def _taken(file: IO[str]) -> bool:
    """Takes the lock if it is free."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(file: IO[str]) -> None:
    """Writes who holds the lock."""
    now = datetime.datetime.now(datetime.timezone.utc)
    try:
        file.truncate(0)
        json.dump({"process": os.getpid(), "since": f"{now:%Y-%m-%d %H:%M:%S}"}, file)
        file.flush()
    except OSError as error:
        # A write that fails does not say to which file.
        error.filename = file.name
        raise


def _holder(file: IO[str]) -> str:
    """Who holds the lock, as far as it is written already."""
    file.seek(0)
    try:
        content = json.loads(file.read())
        return f"process {content['process']}, since {content['since']} UTC"
    except (ValueError, KeyError, TypeError):
        return "just started"

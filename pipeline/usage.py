"""What a piece of work cost: wall and CPU seconds, peak memory."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

# Often enough to see a peak of a second, rarely enough to cost nothing.
SAMPLE_SECONDS = 0.2


@dataclass
class Usage:
    """Cost of one block of work, children included.

    Attributes:
        wall_seconds: elapsed time.
        cpu_seconds: user and system time of this process and its children.
        peak_bytes: largest resident memory seen, summed over the processes.
    """

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


@contextmanager
def measured() -> Iterator[Usage]:
    """Fills a ``Usage`` when the block ends, also by an exception."""
    usage = Usage()
    stop = threading.Event()

    def watch() -> None:
        while True:
            usage.peak_bytes = max(usage.peak_bytes, _resident_bytes())
            if stop.wait(SAMPLE_SECONDS):
                return

    watcher = threading.Thread(target=watch, daemon=True)
    wall, cpu = time.perf_counter(), _cpu_seconds()
    watcher.start()
    try:
        yield usage
    finally:
        stop.set()
        watcher.join()
        usage.wall_seconds = time.perf_counter() - wall
        usage.cpu_seconds = _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    """CPU time of this process and of its children that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _resident_bytes() -> int:
    """Resident memory of this process and its living children."""
    this = psutil.Process()
    total = this.memory_info().rss
    for child in this.children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.Error:
            continue
    return int(total)

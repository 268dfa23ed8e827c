"""Two runs on one folder: the second refuses, or waits."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from data.disk_faults import disk_error
from data.errors import UsageError
from pipeline.run_lock import run_lock

HOLD = """
import sys, pathlib
from pipeline.run_lock import run_lock
with run_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that holds the folder until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_second_run_refuses_and_names_the_first(holder, tmp_path):
    pattern = f"another run is at work here .process {holder.pid}, since .* UTC"
    with pytest.raises(UsageError, match=pattern), run_lock(tmp_path):
        pass


def test_a_run_that_was_killed_holds_nothing(holder, tmp_path):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with run_lock(tmp_path):
        pass


def test_waiting_goes_on_when_the_first_has_ended(holder, tmp_path):
    told = []

    def hear(text):
        told.append(text)
        holder.stdin.close()

    with run_lock(tmp_path, wait=True, told=hear, pause=0.01):
        pass
    assert told == [told[0]]
    assert f"waits for another run (process {holder.pid}" in told[0]


def test_the_same_folder_serves_run_after_run(tmp_path):
    for _ in range(2):
        with run_lock(tmp_path):
            pass


def test_a_full_disk_is_named_by_the_file_that_finds_it(tmp_path, monkeypatch):
    def full(content, file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    with pytest.raises(OSError, match="No space left") as raised, run_lock(tmp_path):
        pass
    assert str(disk_error(raised.value)).startswith(f"{tmp_path}/.lock: no space left")

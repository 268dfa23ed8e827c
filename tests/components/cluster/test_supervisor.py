"""The supervisor: what is started again, what is not, and how signals end it."""

import os
import signal
import subprocess
import sys

import pytest

from components.cluster.supervisor import Supervisor

# Appends a line at each start, then does what its argument says.
CHILD = """
import os, pathlib, signal, sys
log = pathlib.Path(sys.argv[1])
with log.open("a") as file:
    file.write("started\\n")
starts = len(log.read_text().splitlines())
exec(sys.argv[2])
"""


def supervise(tmp_path, code, restarts=3):
    notes = []
    log = tmp_path / "starts"
    command = [sys.executable, "-c", CHILD, str(log), code]
    exit_code = Supervisor(command, restarts, notes.append, pause=0.0).run()
    return exit_code, len(log.read_text().splitlines()), notes


@pytest.mark.parametrize("code", [0, 1, 2])
def test_an_end_of_its_own_is_passed_on(tmp_path, code):
    assert supervise(tmp_path, f"sys.exit({code})") == (code, 1, [])


def test_a_lost_cluster_is_started_again_and_said_so(tmp_path):
    code, starts, notes = supervise(tmp_path, "sys.exit(75 if starts < 3 else 0)")

    assert (code, starts) == (0, 3)
    assert notes == [
        "cluster lost; starts again in 0 s (1 of 3)",
        "cluster lost; starts again in 0 s (2 of 3)",
    ]


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("SIGKILL", "ended by SIGKILL"),
        ("SIGALRM", "ended by SIGALRM: the cluster did not form in time"),
    ],
)
def test_a_killed_process_is_started_again(tmp_path, name, note):
    code = f"starts > 1 or os.kill(os.getpid(), signal.{name})"

    assert supervise(tmp_path, code) == (
        0,
        2,
        [f"{note}; starts again in 0 s (1 of 3)"],
    )


def test_after_the_last_restart_the_exit_code_tells_the_signal(tmp_path):
    code, starts, notes = supervise(
        tmp_path, "os.kill(os.getpid(), signal.SIGKILL)", restarts=2
    )

    assert (code, starts, len(notes)) == (128 + signal.SIGKILL, 3, 2)


SUPERVISED = """
import sys
from components.cluster.supervisor import Supervisor
command = [sys.executable, "-c", sys.argv[1]]
sys.exit(Supervisor(command, 3, print, pause=60.0, grace=0.5).run())
"""


@pytest.mark.parametrize(
    ("prepare", "number", "expected"),
    [
        ("", signal.SIGTERM, 128 + signal.SIGTERM),
        # As TensorFlow does while a cluster is connected.
        (
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
            signal.SIGTERM,
            128 + signal.SIGKILL,
        ),
        (
            "signal.signal(signal.SIGINT, lambda *_: os._exit(5))",
            signal.SIGINT,
            5,
        ),
    ],
)
def test_a_signal_is_handed_on_and_nothing_starts_again(prepare, number, expected):
    code = f"import os, signal\n{prepare}\nprint('started', flush=True)\nsignal.pause()"
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISED, code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        try:
            first = process.stdout.readline()
            process.send_signal(number)
            rest = process.stdout.read()
        finally:
            process.kill()
    assert (first, rest) == ("started\n", "")
    assert process.returncode == expected

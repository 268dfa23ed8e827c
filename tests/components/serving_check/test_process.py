"""A model that ends or holds up the process is told from one that answers."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from components.serving_check import process
from components.serving_check.config import ServingCheckConfig
from components.serving_check.process import ReplayError, replay


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs other code in the place of the replay, behind its first step."""

    def run(code, **settings):
        step = "import pathlib, sys\n"
        step += "(pathlib.Path(sys.argv[2]) / 'step.txt').write_text('step one')\n"
        (tmp_path / "stand_in.py").write_text(step + code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(process, "MODULE", "stand_in")
        return replay("model", [b"row"], ServingCheckConfig(**settings))

    return run


def test_the_facts_come_back(run):
    code = (
        "import json, os\n"
        "rows = (pathlib.Path(sys.argv[2]) / 'rows.tfrecord').read_bytes()\n"
        "facts = {'arguments': [sys.argv[1], sys.argv[3]], 'rows': len(rows),\n"
        "         'devices': os.environ['CUDA_VISIBLE_DEVICES']}\n"
        "(pathlib.Path(sys.argv[2]) / 'facts.json').write_text(json.dumps(facts))\n"
    )
    # A record has a length, its checksum and that of the payload besides.
    size = len(b"row") + 8 + 4 + 4
    facts = {"arguments": ["model", "1e-06"], "rows": size, "devices": "-1"}
    assert run(code) == facts


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL])
def test_a_killed_process_names_the_signal_and_what_it_was_at(run, number):
    with pytest.raises(ReplayError) as caught:
        run(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    assert str(caught.value).startswith(f"the process was ended by {number.name}")
    assert str(caught.value).endswith(", at: step one")


def test_a_process_that_hangs_is_stopped(run, tmp_path):
    code = (
        "import os, signal\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "signal.pause()\n"
    )
    with pytest.raises(
        ReplayError, match=r"not done after 0.5 s, at: step one; serving"
    ):
        run(code, timeout_seconds=0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_no_time_is_too_long_to_wait(run):
    code = "(pathlib.Path(sys.argv[2]) / 'facts.json').write_text('{}')\n"
    assert run(code, timeout_seconds=1e300) == {}


@pytest.fixture
def caller(tmp_path):
    """A process that replays by a stand-in, which waits; the pid of the stand-in."""
    os.mkfifo(tmp_path / "pid")
    (tmp_path / "stand_in.py").write_text(
        "import os, pathlib, sys\n"
        "from components.serving_check.watch import end_with_stdin\n"
        "import signal\n"
        "end_with_stdin()\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "signal.pause()\n"
    )
    (tmp_path / "tmp").mkdir()
    code = (
        "from components.serving_check import process\n"
        "from components.serving_check.config import ServingCheckConfig\n"
        "from pipeline.cli.signals import exit_on_sigterm\n"
        "process.MODULE = 'stand_in'\n"
        "with exit_on_sigterm():\n"
        "    process.replay('model', [b'row'], ServingCheckConfig())\n"
    )
    places = {"PYTHONPATH": f"{tmp_path}:{os.getcwd()}", "TMPDIR": f"{tmp_path}/tmp"}
    caller = subprocess.Popen([sys.executable, "-c", code], env=os.environ | places)
    pid = int((tmp_path / "pid").read_text())
    assert [one.name[:12] for one in (tmp_path / "tmp").iterdir()] == ["ctr-serving-"]
    yield caller, pid
    caller.kill()
    caller.wait()


def wait_for_end(pid):
    """Returns when a process that is no child has ended."""
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], 60)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"


def test_sigterm_ends_the_process_and_removes_its_folder(caller, tmp_path):
    process, pid = caller
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert not psutil.pid_exists(pid)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_process_does_not_outlive_a_killed_caller(caller):
    process, pid = caller
    process.kill()
    wait_for_end(pid)


def test_an_exception_is_named_without_its_message(run):
    with pytest.raises(ReplayError) as caught:
        run("raise ValueError('user-17')\n")
    assert str(caught.value) == "the process ended with ValueError, at: step one"


@pytest.mark.slow
def test_a_damaged_model_cannot_be_loaded(saved, rows):
    folder = saved()
    with open(f"{folder}/saved_model.pb", "r+b") as file:
        file.truncate(100)
    with pytest.raises(ReplayError, match=r"cannot be loaded: .*saved_model\.pb"):
        replay(folder, rows, ServingCheckConfig())

"""Runs of a small DAG that are killed, and what must hold after the next run.

A warm process has imported everything and forks a child for each run: start-up would
take longer than the run. The parent itself computes nothing with TensorFlow, whose
threads do not survive a fork.
"""

import json
import os
import shutil
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.kill_checks import bits, faults_after
from benchmarks.kill_stages import STAGES, kill_group
from pipeline.config import PipelineConfig, load
from pipeline.observer import Silent
from pipeline.preset_files import PRESETS
from pipeline.run import run
from pipeline.usage import Usage

ROWS = 3_000
_FEATURES = ("position", "price")
# A run that hangs is a fault, too.
_PATIENCE_SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class KillPoint:
    """When a run is killed.

    Attributes:
        stratum: a component, or a stage of the push.
        delay: seconds after the component started; at its end if that comes first.
    """

    stratum: str
    delay: float = 0.0


def small_config(folder: Path) -> PipelineConfig:
    """The demo on few rows and features, with a model of one layer."""
    content = yaml.safe_load((PRESETS / "demo.yaml").read_text("utf-8"))
    features = content["data"]["features"]
    content |= {
        "name": "small",
        "simulate": {"rows": ROWS, "users": 150, "days": 4},
        "model": {"name": "logistic_regression"},
        # So that a kill in the training finds a checkpoint to go on from.
        "train": {"batch_size": 256, "checkpoint_steps": 2, "deterministic": True},
        "evaluate": {"gates": {"overall": {"gauc": {"min": 0.1}}}},
    }
    content["data"]["features"] = [f for f in features if f["name"] in _FEATURES]
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(content), "utf-8")
    return load(path)


class _Killer(Silent):
    """Kills the process group at a moment inside a component."""

    def __init__(self, point: KillPoint | None) -> None:
        self._point = point

    def started(self, component: str) -> None:
        """Sets the timer where the component is the one."""
        if self._point and component == self._point.stratum:
            timer = threading.Timer(self._point.delay, kill_group)
            timer.daemon = True
            timer.start()

    def ended(self, component: str, usage: Usage, failed: bool) -> None:
        """Kills where the component was done before its time."""
        del usage, failed
        if self._point and component == self._point.stratum:
            kill_group()


class Runs:
    """A folder with one complete run, in which others are killed and repeated."""

    def __init__(self, folder: Path) -> None:
        """Makes the first run, and a second one to compare with.

        Args:
            folder: empty; all is below it.
        """
        self._config = small_config(folder)
        self._root, self._first = folder / "runs", folder / "first"
        self._must(_forked(self._complete))
        shutil.copytree(self._root, self._first)
        start = time.perf_counter()
        undisturbed = self._must(_forked(self._complete))
        self._expected, self._bits = undisturbed["result"], undisturbed["bits"]
        self.wall_seconds = time.perf_counter() - start
        self.usual_seconds: dict[str, float] = {
            one["component"]: one["wall_seconds"]
            for one in self._expected["components"]
        }

    def kill(self, point: KillPoint) -> dict[str, Any]:
        """Kills a second run, makes a third one, and looks at what is there.

        Args:
            point: when to kill.

        Returns:
            ``killed`` and ``next`` (wall seconds), ``faults``, a list of lines, and
            ``equal_bits``: of weights, of metrics.
        """
        shutil.rmtree(self._root)
        shutil.copytree(self._first, self._root)
        start = time.perf_counter()
        answer = _forked(lambda: self._killed(point))
        killed = time.perf_counter()
        faults = [] if answer is None else [f"not killed: {answer.get('error')}"]
        after = _forked(self._complete)
        ended = time.perf_counter()
        if after is None or "error" in after:
            faults.append(f"the next run failed: {(after or {}).get('error')}")
            equal = []
        else:
            faults += after["faults"]
            equal = [
                name for name, one in after["bits"].items() if one == self._bits[name]
            ]
        return {
            "killed": round(killed - start, 1),
            "next": round(ended - killed, 1),
            "equal_bits": equal,
            "faults": faults,
        }

    def _killed(self, point: KillPoint) -> dict[str, Any]:
        if point.stratum in STAGES:
            STAGES[point.stratum]()
        run(self._config, None, self._root, _Killer(point))
        return {}

    def _complete(self) -> dict[str, Any]:
        result = run(self._config, None, self._root, Silent())
        expected = getattr(self, "_expected", result)
        faults = faults_after(self._root, result, expected)
        return {"result": result, "bits": bits(result), "faults": faults}

    @staticmethod
    def _must(answer: dict[str, Any] | None) -> dict[str, Any]:
        """Refuses to measure where undisturbed runs are at fault."""
        assert answer is not None, "an undisturbed run was killed"
        assert "error" not in answer, answer["error"]
        assert not answer["faults"], answer["faults"]
        return answer


def _forked(work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """Calls a function in a child with a process group of its own.

    Returns:
        What it returned, ``error`` with a traceback, or None if it was killed.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, writer)
    os.close(writer)
    with open(reader, encoding="utf-8") as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def _answer(work: Callable[[], dict[str, Any]], writer: int) -> None:
    """The child: works, writes what came of it, and ends."""
    os.setsid()
    signal.alarm(_PATIENCE_SECONDS)
    import tensorflow as tf

    # Sums in one order, so that equal runs give equal bits.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    try:
        answer = work()
    except BaseException:
        answer = {"error": traceback.format_exc()}
    with open(writer, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os._exit(0)

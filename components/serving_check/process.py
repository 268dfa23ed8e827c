"""Runs the replay in a process of its own, and says why where it does not come back."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.serving_check.config import ServingCheckConfig
from components.serving_check.replay import FACTS_FILE, ROWS_FILE, STEP_FILE
from data.records import frame_all

MODULE = "components.serving_check.replay"
# Waiting for a process counts milliseconds in 31 bits: 23 days.
_LONGEST_SECONDS = 2_000_000


class ReplayError(Exception):
    """The process ended before it was done; the message says how, and at what."""


def replay(
    model: str, rows: Sequence[bytes], config: ServingCheckConfig
) -> dict[str, Any]:
    """Replays rows and odd requests through every signature of a model.

    Args:
        model: folder of the SavedModel.
        rows: serialized tf.Examples.
        config: the settings.

    Returns:
        What was found, as ``components.serving_check.replay`` writes it.

    Raises:
        ReplayError: the model cannot be loaded, or it ended or held up the process.
    """
    with tempfile.TemporaryDirectory(prefix="ctr-serving-") as name:
        folder = Path(name)
        (folder / ROWS_FILE).write_bytes(frame_all(rows))
        command = [sys.executable, "-m", MODULE, model, name, str(config.tolerance)]
        # Closed by the end of this process, however it comes; the other one watches it.
        watched, held = os.pipe()
        try:
            done = subprocess.run(
                command,
                env=_environment(),
                timeout=min(config.timeout_seconds, _LONGEST_SECONDS),
                stdin=watched,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ReplayError(
                f"not done after {config.timeout_seconds:g} s, at: {_step(folder)}; "
                "serving_check.timeout_seconds allows more"
            ) from None
        finally:
            os.close(watched)
            os.close(held)
        if not (folder / FACTS_FILE).exists():
            raise ReplayError(f"{_end(done)}, at: {_step(folder)}")
        facts: dict[str, Any] = json.loads((folder / FACTS_FILE).read_text("utf-8"))
    if "error" in facts:
        raise ReplayError(f"the model cannot be loaded: {facts['error']}")
    return facts


def _environment() -> dict[str, str]:
    """Of the process: without accelerators, whose memory this one may hold."""
    return os.environ | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}


def _step(folder: Path) -> str:
    """What the process was at."""
    step = folder / STEP_FILE
    return step.read_text("utf-8") if step.exists() else "starting Python"


def _end(done: subprocess.CompletedProcess[bytes]) -> str:
    """How the process ended."""
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        hint = ", mostly for want of memory" if name == "SIGKILL" else ""
        return f"the process was ended by {name}{hint}"
    # The type alone: messages of TensorFlow quote the row.
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    kinds = [one.split(":")[0] for one in lines if one and not one[0].isspace()]
    return f"the process ended with {kinds[-1] if kinds else 'no message'}"

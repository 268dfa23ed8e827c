"""Stages of a push at which a run kills itself."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from components import pusher


def kill_group() -> None:
    """Kills this process and all that it started, as a machine that dies."""
    os.killpg(0, signal.SIGKILL)


def _before_copy() -> None:
    def publish(source: str, target: str) -> None:
        del source, target
        kill_group()

    pusher.publish = publish


def _half_copied() -> None:
    copy_tree = shutil.copytree

    def copytree(source: str, target: str) -> None:
        # It calls itself by this name for the folders below.
        shutil.copytree = copy_tree
        half = sum(len(files) for _, _, files in os.walk(source)) // 2
        copied = 0

        def copy(one: str, to: str) -> None:
            nonlocal copied
            if copied == half:
                kill_group()
            copied += 1
            shutil.copy2(one, to)

        copy_tree(source, target, copy_function=copy)

    shutil.copytree = copytree  # type: ignore[assignment]


def _copied() -> None:
    os.replace = _on_push(os.replace, renames=False)


def _renamed() -> None:
    os.replace = _on_push(os.replace, renames=True)


def _on_push(replace: Any, *, renames: bool) -> Any:
    """``os.replace`` that kills where a push gets its name."""

    def replaced(source: Any, target: Any) -> None:
        is_push = Path(source).name.startswith(".push-")
        if renames or not is_push:
            replace(source, target)
        if is_push:
            kill_group()

    return replaced


# Stage of the push -> what brings the kill there.
STAGES: dict[str, Callable[[], None]] = {
    "before the copy": _before_copy,
    "half copied": _half_copied,
    "copied, not renamed": _copied,
    "renamed, not recorded": _renamed,
}

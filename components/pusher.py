"""Pusher whose destination is complete or absent: copy aside, then rename."""

import contextlib
import fcntl
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfx.components.pusher import component, executor
from tfx.dsl.components.base import executor_spec
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils
from tfx.utils import io_utils, proto_utils

from data import paths
from data.disk_faults import disk_error
from data.errors import RunError
from data.whole_files import sync

# Without this file a model server sees no model in a folder.
LOADABLE_BY = "saved_model.pb"
# A dot first: model servers look for names that are numbers.
LOCK_FILE = ".lock"
_ASIDE = ".push-"
_VERSION = re.compile("0|[1-9][0-9]{0,18}")
# A model server holds a version in an int64.
_LAST_VERSION = 2**63 - 1


class Executor(executor.Executor):
    """Pushes a blessed model as one rename within the serving directory.

    A model server that watches the directory never sees half a model: its version
    folder appears complete, and only then. Versions are unix seconds, and always
    above the newest one there.
    """

    def Do(
        self,
        input_dict: dict[str, list[Any]],
        output_dict: dict[str, list[Any]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Pushes the model if it is blessed.

        Args:
            input_dict: ``model`` and ``model_blessing``.
            output_dict: ``pushed_model``.
            exec_properties: ``push_destination`` as JSON.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        pushed = artifact_utils.get_single_instance(output_dict["pushed_model"])
        if not self.CheckBlessing(input_dict):
            self._MarkNotPushed(pushed)
            return
        model_path = self.GetModelPath(input_dict)
        destination = pusher_pb2.PushDestination()
        proto_utils.json_to_proto(exec_properties["push_destination"], destination)
        base = destination.filesystem.base_directory
        # The push comes last: a failure before it leaves the serving directory alone.
        io_utils.copy_dir(model_path, pushed.uri)
        target = push(model_path, base, int(time.time()))
        self._MarkPushed(pushed, pushed_destination=target)


def push(source: str, base: str, now: int) -> str:
    """Adds a version above all others; pushes into one directory take turns.

    Args:
        source: SavedModel directory.
        base: serving directory; made if absent.
        now: unix seconds, the version's number if it is above all others.

    Returns:
        The version directory.

    Raises:
        RunError: there is no number above those in the directory.
    """
    paths.make_dirs(base)
    with _turn(base):
        target = os.path.join(base, str(next_version(base, now)))
        publish(source, target)
    return target


@contextlib.contextmanager
def _turn(base: str) -> Iterator[None]:
    """Waits for other pushes, then removes what killed ones left.

    The operating system lets go of the lock with the process, so whatever lies aside
    while it is held belongs to nobody. Object stores have no such lock, and no copies
    aside.
    """
    if paths.is_remote(base):
        yield
        return
    with open(os.path.join(base, LOCK_FILE), "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for left in Path(base).glob(f"{_ASIDE}*"):
            shutil.rmtree(left)
        yield


def next_version(base: str, now: int) -> int:
    """A version above all that stand in the directory, ``now`` if it is.

    Args:
        base: serving directory.
        now: unix seconds.

    Returns:
        The number of the new version.

    Raises:
        RunError: the newest version has the highest number that there is.
    """
    versions = [int(name) for name in paths.children(base) if is_version(name)]
    if _LAST_VERSION in versions:
        raise RunError(
            f"{base}/{_LAST_VERSION}: has the highest version that a model server "
            "reads; move it away, then push again"
        )
    return max([now, *(version + 1 for version in versions)])


def is_version(name: str) -> bool:
    """True for a name that model servers read as a version: an int64, written plainly."""
    return _VERSION.fullmatch(name) is not None and int(name) <= _LAST_VERSION


def publish(source: str, target: str) -> None:
    """Copies a directory so that the target is complete as soon as it exists.

    Args:
        source: SavedModel directory.
        target: version directory; its parent exists.

    Raises:
        RunError: the disk is full, or a right is missing, for some of the files.
    """
    if paths.is_remote(target):
        # Object stores have no rename of folders.
        paths.copy_tree(source, target, last=LOADABLE_BY)
        return
    aside = os.path.join(os.path.dirname(target), f"{_ASIDE}{uuid.uuid4().hex}")
    try:
        shutil.copytree(source, aside)
        sync(Path(aside))
        os.replace(aside, target)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        # This one tells of all files at once, by no name and no number.
        if isinstance(error, shutil.Error) and (fault := disk_error(error, target)):
            raise fault from error
        raise


class AtomicPusher(component.Pusher):
    """The stock component with the executor above."""

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

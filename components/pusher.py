"""Pusher whose destination is complete or absent: copy aside, then rename."""

import os
import shutil
import time
import uuid
from typing import Any

from tfx.components.pusher import component, executor
from tfx.dsl.components.base import executor_spec
from tfx.dsl.io import fileio
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils
from tfx.utils import io_utils, proto_utils


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
        fileio.makedirs(base)
        target = os.path.join(base, str(next_version(base, int(time.time()))))
        publish(model_path, target)
        io_utils.copy_dir(model_path, pushed.uri)
        self._MarkPushed(pushed, pushed_destination=target)


def next_version(base: str, now: int) -> int:
    """A version above all that stand in the directory, ``now`` if it is.

    Args:
        base: serving directory.
        now: unix seconds.

    Returns:
        The number of the new version.
    """
    versions = [
        int(name.strip("/"))
        for name in fileio.listdir(base)
        if name.strip("/").isdigit()
    ]
    return max([now, *(version + 1 for version in versions)])


def publish(source: str, target: str) -> None:
    """Copies a directory so that the target is complete as soon as it exists.

    Args:
        source: SavedModel directory.
        target: version directory; its parent exists.
    """
    # A dot first: model servers look for names that are numbers.
    aside = os.path.join(os.path.dirname(target), f".push-{uuid.uuid4().hex}")
    if "://" in target:
        # Object stores have no rename of folders. The file that makes a SavedModel
        # loadable is copied last, which TFX's own copy does.
        io_utils.copy_dir(source, target)
        return
    try:
        shutil.copytree(source, aside)
        os.replace(aside, target)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


class AtomicPusher(component.Pusher):
    """The stock component with the executor above."""

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

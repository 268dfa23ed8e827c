"""Files on the local disk or any file system that TensorFlow can reach.

A path with a scheme (``gs://``, ``s3://``, ``hdfs://``) goes through ``tf.io.gfile``;
TensorFlow is imported only then.
"""

import os
import shutil
from pathlib import Path
from typing import IO, Any, cast


def is_remote(path: str) -> bool:
    """True if the path names a file system by a scheme."""
    return "://" in path


def open_read(path: str) -> IO[bytes]:
    """Opens a file for reading bytes.

    Args:
        path: local or remote.

    Returns:
        The open file.
    """
    if is_remote(path):
        return cast(IO[bytes], _gfile().GFile(path, "rb"))
    return open(path, "rb")


def open_write(path: str) -> IO[bytes]:
    """Opens a file for writing bytes, after making its folder.

    Args:
        path: local or remote.

    Returns:
        The open file, empty.
    """
    if is_remote(path):
        _gfile().makedirs(os.path.dirname(path))
        return cast(IO[bytes], _gfile().GFile(path, "wb"))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return open(path, "wb")


def is_dir(path: str) -> bool:
    """True if the path is a folder."""
    return bool(_gfile().isdir(path)) if is_remote(path) else os.path.isdir(path)


def exists(path: str) -> bool:
    """True if there is a file or a folder."""
    return bool(_gfile().exists(path)) if is_remote(path) else os.path.exists(path)


def size(path: str) -> int:
    """Bytes of a file."""
    return int(_gfile().stat(path).length) if is_remote(path) else os.path.getsize(path)


def make_dirs(path: str) -> None:
    """Makes a folder and its parents; nothing happens if it is there."""
    if is_remote(path):
        _gfile().makedirs(path)
    else:
        os.makedirs(path, exist_ok=True)


def rename(source: str, target: str) -> None:
    """Moves a file or folder; a file at the target is replaced."""
    if is_remote(source):
        _gfile().rename(source, target, overwrite=True)
    else:
        os.replace(source, target)


def remove_tree(path: str) -> None:
    """Removes a folder and all in it; nothing happens if it is absent."""
    if not exists(path):
        return
    if is_remote(path):
        _gfile().rmtree(path)
    else:
        shutil.rmtree(path)


def walk(folder: str) -> list[str]:
    """All files below a folder, as paths relative to it, sorted.

    Args:
        folder: where to look.

    Returns:
        Relative paths with ``/`` between their parts.
    """
    walker = _gfile().walk(folder) if is_remote(folder) else os.walk(folder)
    found = []
    for parent, _, names in walker:
        below = parent.rstrip("/")[len(folder.rstrip("/")) :].strip("/")
        found += [f"{below}/{name}" if below else name for name in names]
    return sorted(found)


def _gfile() -> Any:
    """``tf.io.gfile``, imported on first use."""
    import tensorflow as tf

    return tf.io.gfile

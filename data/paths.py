"""Files on the local disk or in a store: one set of functions for any path.

``s3://`` and ``minio://`` go through Arrow, ``gs://``, ``hdfs://`` and ``file://``
through ``tf.io.gfile``; TensorFlow is imported only then. No other scheme is reached.
"""

import fnmatch
import posixpath
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from data.errors import UsageError
from data.file_systems.base import FileSystem
from data.file_systems.local import LOCAL
from data.file_systems.s3 import S3, S3_SCHEMES
from data.file_systems.tensorflow import TENSORFLOW

# ``ram://`` is TensorFlow's file system in memory.
_TENSORFLOW_SCHEMES = ("gs://", "hdfs://", "file://", "ram://")
# Bytes that a copy holds in memory.
_BLOCK = 8 << 20
# Files that a folder's copy moves at once.
_COPIES = 8


def is_remote(path: str) -> bool:
    """True if the path names a file system by a scheme."""
    return "://" in path


def open_read(path: str) -> IO[bytes]:
    """Opens a file for reading bytes.

    Args:
        path: local or remote.

    Returns:
        The open file.

    Raises:
        DataError: it is a pipe, a socket or a device.
    """
    return _of(path).open_read(path)


def open_write(path: str) -> IO[bytes]:
    """Opens a file for writing bytes, after making its folder.

    Args:
        path: local or remote.

    Returns:
        The open file, empty.
    """
    return _of(path).open_write(path)


def is_dir(path: str) -> bool:
    """True if the path is a folder."""
    return _of(path).is_dir(path)


def exists(path: str) -> bool:
    """True if there is a file or a folder."""
    return _of(path).exists(path)


def size(path: str) -> int:
    """Bytes of a file."""
    return _of(path).size(path)


def make_dirs(path: str) -> None:
    """Makes a folder and its parents; nothing happens if it is there."""
    _of(path).make_dirs(path)


def rename(source: str, target: str) -> None:
    """Moves a file or folder within a file system; a file at the target is replaced."""
    _of(source).rename(source, target)


def remove_tree(path: str) -> None:
    """Removes a folder and all in it; nothing happens if it is absent."""
    if exists(path):
        _of(path).remove_tree(path)


def copy(source: str, target: str) -> None:
    """Copies a file, also from one file system to another.

    Args:
        source: the file.
        target: its copy; folders above it are made.
    """
    with open_read(source) as file, open_write(target) as written:
        while block := file.read(_BLOCK):
            written.write(block)


def copy_tree(source: str, target: str, *, last: str = "") -> None:
    """Copies all files below a folder, also from one file system to another.

    Args:
        source: the folder, or a single file.
        target: the folder or file to write.
        last: name of files that are copied after all others: those by which a reader
            tells that the rest is there.
    """
    if not is_dir(source):
        copy(source, target)
        return
    base, into = source.rstrip("/"), target.rstrip("/")

    def copy_one(name: str) -> None:
        copy(f"{base}/{name}", f"{into}/{name}")

    names = walk(source)
    marks = [name for name in names if posixpath.basename(name) == last]
    # A store answers each request late and many at once.
    with ThreadPoolExecutor(_COPIES) as pool:
        for group in (sorted(set(names) - set(marks)), marks):
            deque(pool.map(copy_one, group), maxlen=0)


def children(folder: str) -> list[str]:
    """Names of the files and folders in a folder, sorted; none if it is absent."""
    return sorted(_of(folder).children(folder)) if is_dir(folder) else []


def write_whole(path: str, content: bytes) -> None:
    """Writes a small file, complete or not at all.

    Args:
        path: local or remote; what was there is replaced.
        content: all of it.
    """
    aside = f"{path}.part"
    with open_write(aside) as file:
        file.write(content)
    rename(aside, path)


def walk(folder: str) -> list[str]:
    """All files below a folder, as paths relative to it, sorted.

    Args:
        folder: where to look.

    Returns:
        Relative paths with ``/`` between their parts.
    """
    found = []
    for parent, _, names in _of(folder).walk(folder):
        below = parent.rstrip("/")[len(folder.rstrip("/")) :].strip("/")
        found += [f"{below}/{name}" if below else name for name in names]
    return sorted(found)


def matching(pattern: str) -> list[str]:
    """Files and folders that a pattern names, as in a shell, sorted.

    ``*``, ``?`` and ``[...]`` stay within one part of a path, ``**`` stands for any
    number of folders; names that start with ``.`` only match where the pattern says so.
    Python's ``glob`` means the same, and passes over folders that it may not read.

    Args:
        pattern: local or remote.

    Returns:
        The paths.

    Raises:
        OSError: a folder that the pattern leads into cannot be read.
    """
    scheme, mark, inside = pattern.rpartition("://")
    start = scheme + mark + ("/" if inside.startswith("/") else "")
    found = [start]
    for part in filter(None, inside.split("/")):
        found = [path for folder in found for path in _matching(folder, part)]
    return sorted({path for path in found if path})


def _matching(folder: str, part: str) -> list[str]:
    """Paths in a folder that one part of a pattern names."""
    base = folder if folder.endswith("/") or not folder else f"{folder}/"
    if not has_wildcard(part):
        return [base + part] if exists(base + part) else []
    visible = [
        base + name
        for name in children(folder or ".")
        if name[0] != "." or part[0] == "."
    ]
    if part == "**":
        below = [
            path for one in visible if is_dir(one) for path in _matching(one, part)
        ]
        return [folder, *visible, *below]
    return [
        path for path in visible if fnmatch.fnmatchcase(posixpath.basename(path), part)
    ]


def has_wildcard(pattern: str) -> bool:
    """True if a path is a pattern."""
    return any(mark in pattern for mark in "*?[")


def holds_files(folder: str) -> bool:
    """True if there is a file somewhere below a folder; stops at the first one."""
    return any(names for _, _, names in _of(folder).walk(folder))


def _of(path: str) -> FileSystem:
    """What reaches a path.

    Raises:
        UsageError: nothing does.
    """
    if not is_remote(path):
        return LOCAL
    if path.startswith(S3_SCHEMES):
        return S3
    if path.startswith(_TENSORFLOW_SCHEMES):
        return TENSORFLOW
    raise UsageError(
        f"{path}: must be local, gs://, s3://, minio:// or hdfs://; copy it here"
    )

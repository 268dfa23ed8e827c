"""TFX's way to files under ``s3://`` and ``minio://``.

TFX finds the file system of a path in a registry of plug-ins; TensorFlow's, which stands
behind every scheme there, has none for S3. With this one, drivers and executors read and
write such paths like any other. (``tfx.dsl.io.filesystem``; the bytes move in
``data.file_systems.s3``.)
"""

import fnmatch
import functools
import io
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

from tfx.dsl.io import filesystem, filesystem_registry

from data import paths
from data.file_systems.s3 import S3, S3_SCHEMES

# Before the plug-ins of TFX, which stand at 0 and above.
_PRIORITY = -1
_NANOSECONDS = 10**9


class S3Filesystem(filesystem.Filesystem):
    """The plug-in; TFX calls its methods on the class."""

    SUPPORTED_SCHEMES: ClassVar = list(S3_SCHEMES)

    @staticmethod
    def open(name: str, mode: str = "r") -> Any:
        """Opens a file, as text unless the mode has a ``b``."""
        if mode not in {"r", "rb", "w", "wb"}:
            raise ValueError(f"mode {mode!r}: objects are read or written as wholes")
        _must_exist(name, unless="w" in mode)
        stream = S3.open_write(name) if "w" in mode else S3.open_read(name)
        return stream if "b" in mode else io.TextIOWrapper(stream, "utf-8")

    @staticmethod
    def copy(src: str, dst: str, overwrite: bool = False) -> None:
        """Copies a file."""
        _must_be_free(dst, overwrite)
        _must_exist(src)
        paths.copy(src, dst)

    @staticmethod
    def exists(path: str) -> bool:
        """True if there is a file or a folder."""
        return S3.exists(path)

    @staticmethod
    def glob(pattern: str) -> list[str]:
        """Files and folders that match; ``*`` stays within one part of the path."""
        parts = pattern.rstrip("/").split("/")
        fixed = next(
            (i for i, part in enumerate(parts) if re.search(r"[*?\[]", part)),
            len(parts),
        )
        if fixed == len(parts):
            return [pattern] if S3.exists(pattern) else []
        found = ["/".join(parts[:fixed])]
        for part in parts[fixed:]:
            found = [
                f"{folder}/{name}"
                for folder in found
                for name in paths.children(folder)
                if fnmatch.fnmatchcase(name, part)
            ]
        return found

    @staticmethod
    def isdir(path: str) -> bool:
        """True if the path is a folder."""
        return S3.is_dir(path)

    @staticmethod
    def listdir(path: str) -> list[str]:
        """Names of the files and folders in a folder."""
        _must_exist(path)
        return S3.children(path)

    @staticmethod
    def makedirs(path: str) -> None:
        """Does nothing: a file makes its folders."""

    @staticmethod
    def mkdir(path: str) -> None:
        """Does nothing: a file makes its folders."""

    @staticmethod
    def remove(path: str) -> None:
        """Removes a file."""
        _must_exist(path)
        S3.remove(path)

    @staticmethod
    def rename(src: str, dst: str, overwrite: bool = False) -> None:
        """Moves a file or folder."""
        _must_be_free(dst, overwrite)
        _must_exist(src)
        S3.rename(src, dst)

    @staticmethod
    def rmtree(path: str) -> None:
        """Removes a folder and all in it."""
        _must_exist(path)
        S3.remove_tree(path)

    @staticmethod
    def stat(path: str) -> Any:
        """``length`` in bytes and ``mtime_nsec``, as TensorFlow's."""
        _must_exist(path)
        return SimpleNamespace(
            length=S3.size(path),
            mtime_nsec=int(S3.modified(path) * _NANOSECONDS),
        )

    @staticmethod
    def walk(
        top: str, topdown: bool = True, onerror: Any = None
    ) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yields folder, no folders, and one file, for each file below a folder."""
        del topdown, onerror  # There is one order, and errors are raised.
        return S3.walk(top)


def _must_exist(path: str, unless: bool = False) -> None:
    """Refuses a path that is not there, by the error that TFX expects."""
    if not unless and not S3.exists(path):
        raise filesystem.NotFoundError(path)


def _must_be_free(path: str, overwrite: bool) -> None:
    """Refuses a path that is there, unless it may be replaced."""
    if not overwrite and S3.exists(path):
        raise OSError(f"{path} exists and must not be replaced")


@functools.cache
def register() -> None:
    """Makes the plug-in known to TFX in this process."""
    filesystem_registry.DEFAULT_FILESYSTEM_REGISTRY.register(S3Filesystem, _PRIORITY)

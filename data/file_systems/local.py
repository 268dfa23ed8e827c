"""The local disk."""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from data.errors import DataError
from data.file_systems.base import FileSystem

# By the first letter of `ls -l`. Opening one can wait for ever, and reading never end.
_NO_FILES = {"p": "a named pipe", "s": "a socket", "c": "a device", "b": "a device"}


class _LocalFiles:
    """The local disk."""

    def open_read(self, path: str) -> IO[bytes]:
        _refuse_special(path)
        return open(path, "rb")

    def open_write(self, path: str) -> IO[bytes]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return open(path, "wb")

    def is_dir(self, path: str) -> bool:
        found = _look(path)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def exists(self, path: str) -> bool:
        return _look(path) is not None

    def size(self, path: str) -> int:
        return _refuse_special(path).st_size

    def modified(self, path: str) -> float:
        return os.path.getmtime(path)

    def make_dirs(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def remove(self, path: str) -> None:
        os.remove(path)

    def remove_tree(self, path: str) -> None:
        shutil.rmtree(path)

    def children(self, folder: str) -> list[str]:
        return os.listdir(folder)

    def walk(self, folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
        return os.walk(folder, onerror=lambda error: _refuse(error, folder))


def _look(path: str) -> os.stat_result | None:
    """What the system knows of a path; None if there is nothing.

    ``os.path.exists`` also says no where a right is missing, or the disk fails.
    """
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last by a NUL
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:  # links in a circle lead to nothing
            return None
        raise


def _refuse(error: OSError, root: str) -> None:
    """Raises what ``os.walk`` would pass over, but for folders that nobody reads.

    Those are folders that are gone, hidden ones with all below them, and the file
    system's own in the root of a disk, which only the superuser may read.
    """
    below = os.path.relpath(error.filename, root).split(os.sep)
    left_out = any(
        part[:1] in {".", "_"} or part == "lost+found" for part in below if part != "."
    )
    if not (left_out or isinstance(error, FileNotFoundError | NotADirectoryError)):
        raise error


def _refuse_special(path: str) -> os.stat_result:
    """What the system knows of a path.

    Raises:
        DataError: it is neither a regular file nor a folder.
    """
    found = os.stat(path)
    kind = _NO_FILES.get(stat.filemode(found.st_mode)[0])
    if kind:
        raise DataError(
            f"{path}: must be a regular file, is {kind}; move it elsewhere, or write "
            "what it gives into a file"
        )
    return found


LOCAL: FileSystem = _LocalFiles()

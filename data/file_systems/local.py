"""The local disk."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from data.file_systems.base import FileSystem


class _LocalFiles:
    """The local disk."""

    def open_read(self, path: str) -> IO[bytes]:
        return open(path, "rb")

    def open_write(self, path: str) -> IO[bytes]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return open(path, "wb")

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(path)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def size(self, path: str) -> int:
        return os.path.getsize(path)

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
        return os.walk(folder)


LOCAL: FileSystem = _LocalFiles()

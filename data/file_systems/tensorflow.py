"""All that ``tf.io.gfile`` reaches, such as ``gs://`` and ``hdfs://``."""

import functools
import posixpath
from collections.abc import Iterator
from typing import IO, Any, cast

from data.file_systems.base import FileSystem


class _TensorFlowFiles:
    """All that ``tf.io.gfile`` reaches; TensorFlow is imported at the first use."""

    @functools.cached_property
    def _gfile(self) -> Any:
        import tensorflow as tf

        return tf.io.gfile

    def open_read(self, path: str) -> IO[bytes]:
        return cast(IO[bytes], self._gfile.GFile(path, "rb"))

    def open_write(self, path: str) -> IO[bytes]:
        self._gfile.makedirs(posixpath.dirname(path))
        return cast(IO[bytes], self._gfile.GFile(path, "wb"))

    def is_dir(self, path: str) -> bool:
        return bool(self._gfile.isdir(path))

    def exists(self, path: str) -> bool:
        return bool(self._gfile.exists(path))

    def size(self, path: str) -> int:
        return int(self._gfile.stat(path).length)

    def modified(self, path: str) -> float:
        return float(self._gfile.stat(path).mtime_nsec) / 10**9

    def make_dirs(self, path: str) -> None:
        self._gfile.makedirs(path)

    def rename(self, source: str, target: str) -> None:
        self._gfile.rename(source, target, overwrite=True)

    def remove(self, path: str) -> None:
        self._gfile.remove(path)

    def remove_tree(self, path: str) -> None:
        self._gfile.rmtree(path)

    def children(self, folder: str) -> list[str]:
        return [name.rstrip("/") for name in self._gfile.listdir(folder)]

    def walk(self, folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
        return cast(
            Iterator[tuple[str, list[str], list[str]]], self._gfile.walk(folder)
        )


TENSORFLOW: FileSystem = _TensorFlowFiles()

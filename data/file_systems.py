"""Three ways to reach files: the local disk, TensorFlow, and S3 through Arrow.

TensorFlow's wheels have no file system for ``s3://``. Arrow has one, with credentials
and region from the usual environment: ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``,
``AWS_DEFAULT_REGION``; ``AWS_ENDPOINT_URL`` names the server where it is not Amazon's.
"""

import functools
import os
import posixpath
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol, cast

from pyarrow import fs

S3_SCHEMES = ("s3://", "minio://")
# Kubeflow's own MinIO, as its manifests set it up.
_MINIO = "http://minio-service.kubeflow:9000"


class FileSystem(Protocol):
    """What `data.paths` offers, for the paths of one kind."""

    def open_read(self, path: str) -> IO[bytes]:
        """Opens a file for reading."""

    def open_write(self, path: str) -> IO[bytes]:
        """Opens a file for writing, after making its folder."""

    def is_dir(self, path: str) -> bool:
        """True if the path is a folder."""

    def exists(self, path: str) -> bool:
        """True if there is a file or a folder."""

    def size(self, path: str) -> int:
        """Bytes of a file."""

    def modified(self, path: str) -> float:
        """When a file was last written, in unix seconds."""

    def make_dirs(self, path: str) -> None:
        """Makes a folder and its parents."""

    def rename(self, source: str, target: str) -> None:
        """Moves a file or folder."""

    def remove(self, path: str) -> None:
        """Removes a file."""

    def remove_tree(self, path: str) -> None:
        """Removes a folder that is there."""

    def children(self, folder: str) -> list[str]:
        """Names of the files and folders in a folder."""

    def walk(self, folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yields folder, names of its folders, and names of its files."""


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


class _S3Files:
    """Stores that speak S3; a folder is there as long as a file is below it."""

    def open_read(self, path: str) -> IO[bytes]:
        store, inside = _store(path)
        return cast(IO[bytes], store.open_input_file(inside))

    def open_write(self, path: str) -> IO[bytes]:
        store, inside = _store(path)
        # None: else Arrow compresses by the ending of the name.
        return cast(IO[bytes], store.open_output_stream(inside, compression=None))

    def is_dir(self, path: str) -> bool:
        return _info(path).type == fs.FileType.Directory

    def exists(self, path: str) -> bool:
        return _info(path).type != fs.FileType.NotFound

    def size(self, path: str) -> int:
        return int(_info(path).size)

    def modified(self, path: str) -> float:
        return float(_info(path).mtime_ns) / 10**9

    def make_dirs(self, path: str) -> None:
        """Nothing to do: a file makes its folders."""

    def rename(self, source: str, target: str) -> None:
        store, old = _store(source)
        new = _store(target)[1]
        if not self.is_dir(source):
            store.move(old, new)
            return
        # S3 knows no folders, so they move file by file.
        for one in _below(source):
            store.move(one.path, new.rstrip("/") + one.path[len(old.rstrip("/")) :])
        self.remove_tree(source)

    def remove(self, path: str) -> None:
        store, inside = _store(path)
        store.delete_file(inside)

    def remove_tree(self, path: str) -> None:
        store, inside = _store(path)
        if self.exists(path):
            store.delete_dir(inside)

    def children(self, folder: str) -> list[str]:
        store, inside = _store(folder)
        return [
            one.base_name
            for one in store.get_file_info(
                fs.FileSelector(inside.rstrip("/"), allow_not_found=True)
            )
        ]

    def walk(self, folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
        scheme = folder.partition("://")[0]
        for one in _below(folder):
            parent, name = posixpath.split(f"{scheme}://{one.path}")
            yield parent, [], [name]


def _below(folder: str) -> list[Any]:
    """All files below a folder of a store."""
    store, inside = _store(folder)
    selector = fs.FileSelector(inside.rstrip("/"), recursive=True, allow_not_found=True)
    return [
        one for one in store.get_file_info(selector) if one.type == fs.FileType.File
    ]


def _info(path: str) -> Any:
    """What the store knows of a path."""
    store, inside = _store(path)
    return store.get_file_info(inside.rstrip("/"))


def _store(path: str) -> tuple[Any, str]:
    """Arrow's file system for a path, and the path in it."""
    scheme, _, inside = path.partition("://")
    endpoint = os.environ.get("AWS_ENDPOINT_URL") or (
        _MINIO if scheme == "minio" else ""
    )
    return _s3(endpoint), inside


@functools.cache
def _s3(endpoint: str) -> Any:
    """The client of one server; connecting anew for each file would double requests."""
    if not endpoint:
        return fs.S3FileSystem()
    protocol, _, host = endpoint.rpartition("://")
    return fs.S3FileSystem(
        endpoint_override=host.rstrip("/"),
        scheme=protocol or "https",
        # A server of one's own seldom has a bucket that is made by a first file.
        allow_bucket_creation=False,
    )


LOCAL: FileSystem = _LocalFiles()
TENSORFLOW: FileSystem = _TensorFlowFiles()
S3: FileSystem = _S3Files()


def file_system(path: str) -> FileSystem:
    """Finds what reaches a path.

    Args:
        path: with or without a scheme.

    Returns:
        The local disk for a path without a scheme, S3 for its schemes, else TensorFlow.
    """
    if "://" not in path:
        return LOCAL
    return S3 if path.startswith(S3_SCHEMES) else TENSORFLOW

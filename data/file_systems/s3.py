"""Stores that speak S3, through Arrow.

TensorFlow's wheels have no file system for ``s3://``. Arrow has one, with credentials
and region from the usual environment: ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``,
``AWS_DEFAULT_REGION``; ``AWS_ENDPOINT_URL`` names the server where it is not Amazon's.
"""

import errno
import functools
import io
import os
import posixpath
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any, cast

from pyarrow import fs

from data.file_systems.base import FileSystem

S3_SCHEMES = ("s3://", "minio://")
# Kubeflow's own MinIO, as its manifests set it up.
_MINIO = "http://minio-service.kubeflow:9000"


class _S3Files:
    """Stores that speak S3; a folder is there as long as a file is below it."""

    def open_read(self, path: str) -> IO[bytes]:
        store, inside = _store(path)
        return cast(IO[bytes], store.open_input_file(inside))

    def open_write(self, path: str) -> IO[bytes]:
        return cast(IO[bytes], _WholeObject(*_store(path)))

    def is_dir(self, path: str) -> bool:
        return _info(path).type == fs.FileType.Directory

    def exists(self, path: str) -> bool:
        return _info(path).type != fs.FileType.NotFound

    def size(self, path: str) -> int:
        return int(_file_info(path).size)

    def modified(self, path: str) -> float:
        return float(_file_info(path).mtime_ns) / 10**9

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
        if self.exists(source):  # A folder without files may be an object itself.
            self.remove_tree(source)

    def remove(self, path: str) -> None:
        store, inside = _store(path)
        store.delete_file(inside)

    def remove_tree(self, path: str) -> None:
        store, inside = _store(path)
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


class _WholeObject(io.RawIOBase):
    """An object that is being written; a block that ends by an error leaves none.

    Arrow completes an upload whenever its stream is closed, so what was begun is removed
    after it.
    """

    def __init__(self, store: Any, inside: str) -> None:
        super().__init__()
        self._store = store
        self._inside = inside
        # None: else Arrow compresses by the ending of the name.
        self._stream = store.open_output_stream(inside, compression=None)

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        self._stream.write(block)
        return len(block)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if error is not None:
            self._store.delete_file(self._inside)


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


def _file_info(path: str) -> Any:
    """What the store knows of a file."""
    info = _info(path)
    if info.type != fs.FileType.File:
        raise FileNotFoundError(errno.ENOENT, "no such file", path)
    return info


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


S3: FileSystem = _S3Files()

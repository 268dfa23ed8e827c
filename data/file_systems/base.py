"""What every file system offers."""

from collections.abc import Iterator
from typing import IO, Protocol


class FileSystem(Protocol):
    """What `data.paths` offers, for the paths of one kind."""

    def open_read(self, path: str) -> IO[bytes]:
        """Opens a file for reading.

        Raises:
            DataError: it is a pipe, a socket or a device.
        """

    def open_write(self, path: str) -> IO[bytes]:
        """Opens a file for writing, after making its folder.

        A block that ends by an error leaves no file under a remote name.
        """

    def is_dir(self, path: str) -> bool:
        """True if the path is a folder; OSError if that cannot be told."""

    def exists(self, path: str) -> bool:
        """True if there is a file or a folder; OSError if that cannot be told."""

    def size(self, path: str) -> int:
        """Bytes of a file; FileNotFoundError if it is none."""

    def modified(self, path: str) -> float:
        """When a file was last written, unix seconds; as ``size`` if it is none."""

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
        """Yields folder, names of its folders, and names of its files.

        Nothing where there is no folder; OSError for one that cannot be read.
        """

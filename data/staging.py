"""Copies of remote files on the local disk, made ahead of their reading.

Storage behind a network stalls now and then. As long as the copies made ahead last, the
reader does not notice. A copy is checked by its size only: what is in a record has a
CRC-32C, which tf.data checks when it reads the copy.
"""

import dataclasses
import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from typing import Any

from data import paths
from data.errors import DataError, RunError

# Seconds before another attempt: a storage that restarts is back within half a minute.
_PAUSES = (1.0, 5.0, 20.0)
# Between two pieces a copy can be given up.
_CHUNK_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class StagedFiles(Sequence[str]):
    """Paths of files that are to be read from local copies.

    Attributes:
        files: paths, local or remote; none twice.
        sizes: bytes of each, as its manifest says.
        folder: where copies are kept; the system's temporary folder when None.
        limit_bytes: most bytes of copies at a time.
    """

    files: tuple[str, ...]
    sizes: tuple[int, ...]
    folder: str | None
    limit_bytes: int

    def __len__(self) -> int:
        """Number of files."""
        return len(self.files)

    def __getitem__(self, index: Any) -> Any:
        """A path, or some of them."""
        return self.files[index]

    def reordered(self, order: Sequence[int]) -> "StagedFiles":
        """The same files in another order.

        Args:
            order: number of each file.
        """
        return dataclasses.replace(
            self,
            files=tuple(self.files[number] for number in order),
            sizes=tuple(self.sizes[number] for number in order),
        )


class Stager:
    """Copies files in the order of reading, as far ahead as the limit allows.

    A context manager: inside a thread copies, at the end it stops and the copies are
    removed. A process that is killed leaves them in a folder ``ctr-staging-*``.
    """

    def __init__(self, files: StagedFiles, pauses: Sequence[float] = _PAUSES) -> None:
        """Prepares copying.

        Args:
            files: in the order in which they will be fetched.
            pauses: seconds before each further attempt at a file.
        """
        self._files, self._pauses = files, pauses
        self._sizes = dict(zip(files.files, files.sizes, strict=True))
        self._ready: dict[str, str] = {}
        self._bytes = 0
        self._error: Exception | None = None
        self._closed = threading.Event()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.folder = ""

    def __enter__(self) -> "Stager":
        """Makes the folder of the copies and starts to fill it."""
        if self._files.folder:
            os.makedirs(self._files.folder, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix="ctr-staging-", dir=self._files.folder)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops, at the latest when the storage answers, and removes the copies."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()
        self._thread.join()
        shutil.rmtree(self.folder, ignore_errors=True)

    def fetch(self, path: str) -> str:
        """Waits for a file.

        At least the files that are fetched and not released, and this one, have to fit
        into the limit; otherwise this waits for a release.

        Args:
            path: one of the files, not released yet.

        Returns:
            Path of its complete copy.

        Raises:
            DataError: this file or one before it cannot be copied.
            RunError: copying has ended.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: path in self._ready or self._error or self._closed.is_set()
            )
            if path in self._ready:
                return self._ready[path]
            raise self._error or RunError(f"{path}: not staged: copying has ended")

    def release(self, path: str) -> None:
        """Removes a copy, which makes room for others.

        Args:
            path: a file that was fetched and is read.
        """
        with self._changed:
            os.remove(self._ready.pop(path))
            self._bytes -= self._sizes[path]
            self._changed.notify_all()

    def _run(self) -> None:
        """Copies all files; an error is kept for whoever fetches."""
        try:
            for number, (path, size) in enumerate(self._sizes.items()):
                self._wait_for_room(size)
                local = os.path.join(self.folder, str(number))
                self._copy(path, size, local)
                with self._changed:
                    self._ready[path] = local
                    self._changed.notify_all()
        except Exception as error:  # Or fetch would wait for ever.
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _wait_for_room(self, size: int) -> None:
        """Takes room below the limit; a file that is larger gets it all to itself."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    not self._bytes
                    or self._bytes + size <= self._files.limit_bytes
                    or self._closed.is_set()
                )
            )
            self._bytes += size

    def _copy(self, path: str, size: int, local: str) -> None:
        """Copies a file, in several attempts; it has its name only when complete."""
        reason = ""
        for pause in (0.0, *self._pauses):
            if self._closed.wait(pause):
                raise RunError(f"{path}: not staged: copying has ended")
            try:
                found = self._copied_bytes(path, size, local + ".part")
            except Exception as error:  # Every storage has errors of its own.
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
                continue
            if found == size:
                os.replace(local + ".part", local)
                return
            reason = "it is longer" if found > size else f"it ends after {found}"
        raise DataError(
            f"{path}: {size} bytes in the manifest, not copied to {self.folder} in "
            f"{len(self._pauses) + 1} attempts: {reason}; check the storage and the "
            "room on the disk, or pack again"
        )

    def _copied_bytes(self, path: str, size: int, local: str) -> int:
        """Copies at most the stated bytes; returns those found, one more if longer."""
        left = size
        with paths.open_read(path) as source, open(local, "wb") as target:
            while left and (chunk := source.read(min(left, _CHUNK_BYTES))):
                if self._closed.is_set():
                    break
                target.write(chunk)
                left -= len(chunk)
            return size - left + len(source.read(1))

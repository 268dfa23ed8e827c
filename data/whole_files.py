"""What is complete or absent, also after a power cut."""

import contextlib
import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Writes a text file aside and gives it its name at the end.

    Args:
        path: the file; folders above it are made.
        text: what it will hold, as UTF-8.

    Raises:
        OSError: it cannot be written; the error names the file, and what was there
            before is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.part")
    try:
        aside.write_text(text, "utf-8")
        sync(aside)
        os.replace(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        # A write that fails does not say to which file.
        error.filename = str(path)
        raise


def sync(path: Path) -> None:
    """Waits until a file, or a folder with all that is below it, is on the disk.

    A rename may reach the disk before the bytes of what it renames; after a power cut
    the name would then stand for less than was written.

    Args:
        path: the file or folder.

    Raises:
        OSError: the disk did not take the bytes of a file.
    """
    if path.is_dir():
        for one in path.iterdir():
            sync(one)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():  # not every file system can do it for folders
            raise
    finally:
        os.close(descriptor)

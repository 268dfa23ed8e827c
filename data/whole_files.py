"""Small files that are complete or absent."""

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
        os.replace(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        # A write that fails does not say to which file.
        error.filename = str(path)
        raise

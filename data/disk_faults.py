"""Faults of the disk behind the errors of libraries, as one line with the way on.

TensorFlow, Arrow, SQLite and Beam each wrap what the operating system says, some only as
text, so the text decides where there is no error number.
"""

import errno
import os
from collections.abc import Iterator

from data.errors import RunError

_ROOM = "free some, or write to another disk (--root, --output)"
_RIGHTS = "give this user the rights, or use another folder (--root, --output)"
_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "raise `ulimit -f`, or write smaller files",
    errno.EROFS: "mount it for writing, or write elsewhere (--root, --output)",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
}
# SQLite's words, which ML Metadata passes on.
_SQLITE = {
    "database or disk is full": errno.ENOSPC,
    "readonly database": errno.EROFS,
    "unable to open database file": errno.EACCES,
}
_WORDS = {os.strerror(code).lower(): code for code in _REMEDIES} | _SQLITE
# "Operation not permitted" is also said of much that is no file.
del _WORDS[os.strerror(errno.EPERM).lower()]


def disk_error(error: BaseException, place: str = "") -> RunError | None:
    """Finds a full disk or a missing right behind an error.

    Args:
        error: what was raised.
        place: what was being written, for errors that name no file.

    Returns:
        The error for the user's eyes, or None if the disk is not at fault.
    """
    for one in _chain(error):
        code = _code(one)
        if code is not None:
            file = getattr(one, "filename", None)
            where = f"{file or place}: " if file or place else ""
            text = os.strerror(code)
            return RunError(f"{where}{text[:1].lower()}{text[1:]}; {_REMEDIES[code]}")
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from, the innermost first."""
    if error is not None:
        hidden = error.__suppress_context__
        yield from _chain(error.__cause__ if hidden else error.__context__)
        yield error


def _code(error: BaseException) -> int | None:
    """Number of the disk's fault that an error tells of."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno if error.errno in _REMEDIES else None
    text = str(error).lower()
    return next((code for words, code in _WORDS.items() if words in text), None)

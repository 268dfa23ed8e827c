"""A full disk and missing rights are found behind what libraries raise."""

import errno

import pytest

from data.disk_faults import disk_error

ROOM = "no space left on device; free some, or write to another disk"


def wrapped(inner: BaseException, outer: Exception) -> Exception:
    """An error that was raised while another was handled."""
    outer.__context__ = inner
    return outer


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/a/b"), f"/a/b: {ROOM}"),
        (OSError(errno.ENOSPC, "No space left on device"), f"/out: {ROOM}"),
        (
            RuntimeError("OSError: [Errno 28] No space left on device [while running"),
            f"/out: {ROOM}",
        ),
        (RuntimeError("Error executing query: database or disk is full"), ROOM),
        (RuntimeError("attempt to write a readonly database"), "read-only file system"),
        (OSError(errno.EROFS, "Read-only file system", "/a"), "mount it for writing"),
        (PermissionError(errno.EACCES, "Permission denied", "/a"), "/a: permission"),
    ],
)
def test_the_place_and_the_remedy_are_named(error: Exception, text: str) -> None:
    found = disk_error(error, "/out")
    assert text in str(found)
    assert "\n" not in str(found)


def test_the_first_of_several_errors_is_the_reason() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "/first")
    later = wrapped(full, RuntimeError("attempt to write a readonly database"))
    assert str(disk_error(wrapped(later, ValueError("x")))).startswith("/first: no sp")


def test_other_errors_are_not_the_disks() -> None:
    for error in (
        ValueError("row 7"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "/a"),
        OSError("a store that cannot be reached"),
    ):
        assert disk_error(error) is None

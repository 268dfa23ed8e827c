"""A small file is complete or absent."""

import errno
import os
from pathlib import Path

import pytest

from data.whole_files import write_whole


def test_the_file_and_its_folders_are_made(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b.json"
    write_whole(target, "é")
    assert target.read_bytes() == "é".encode()
    assert os.listdir(target.parent) == ["b.json"]


def test_a_full_disk_leaves_what_was_there_and_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "b.json"
    write_whole(target, "before")

    def full(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(text.encode(encoding)[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"b\.json"):
        write_whole(target, "after")
    assert target.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["b.json"]

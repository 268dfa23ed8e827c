"""A small file is complete or absent."""

import errno
import os
from pathlib import Path

import pytest

from data.whole_files import sync, write_whole


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what was synced and, with a mark, of what was renamed, in order."""
    events: list[str] = []
    replace = os.replace

    def synced(descriptor: int) -> None:
        events.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    def replaced(source: Path, target: Path) -> None:
        events.append(f"-> {Path(target).name}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    return events


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


def test_a_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, happened: list[str]
) -> None:
    write_whole(tmp_path / "b.json", "content")
    assert happened == ["b.json.part", "-> b.json"]


def test_all_below_a_folder_is_on_the_disk_before_the_folder(
    tmp_path: Path, happened: list[str]
) -> None:
    (tmp_path / "model" / "variables").mkdir(parents=True)
    (tmp_path / "model" / "variables" / "data").touch()
    (tmp_path / "model" / "saved_model.pb").touch()
    sync(tmp_path / "model")
    assert sorted(happened) == ["data", "model", "saved_model.pb", "variables"]
    assert happened.index("data") < happened.index("variables")
    assert happened[-1] == "model"


def test_a_disk_that_does_not_take_the_bytes_of_a_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").touch()

    def failed(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failed)
    with pytest.raises(OSError, match="Input/output"):
        sync(tmp_path)

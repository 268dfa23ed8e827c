"""Files are copied ahead within a limit, complete or not at all."""

import contextlib
import io
import os
import threading

import pytest

from data import paths
from data.errors import DataError, RunError
from data.staging import StagedFiles, Stager

# Only a broken stager takes that long.
SAFETY_S = 60


class Storage:
    """Remote files in memory; reading one can be held up, cut or refused."""

    def __init__(self, files):
        self.files = files
        self.opened = []
        self.faults = {}
        self.holds = {}
        self.asked = {path: threading.Event() for path in files}
        self.at_open = lambda: None

    def open_read(self, path):
        self.at_open()
        self.opened.append(path)
        self.asked[path].set()
        if path in self.holds:
            assert self.holds[path].wait(SAFETY_S)
        fault = self.faults.get(path, [])
        content = fault.pop(0) if fault else self.files[path]
        if isinstance(content, Exception):
            raise content
        return io.BytesIO(content)


def files_of(storage, folder, limit):
    return StagedFiles(
        files=tuple(storage.files),
        sizes=tuple(len(content) for content in storage.files.values()),
        folder=str(folder),
        limit_bytes=limit,
    )


@pytest.fixture
def storage(monkeypatch):
    content = {f"mem://rows/{name}": name.encode() * 10 for name in "abcde"}
    storage = Storage(content)
    monkeypatch.setattr(paths, "open_read", storage.open_read)
    return storage


def read(path):
    with open(path, "rb") as file:
        return file.read()


def bytes_in(folder):
    held = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            # The stager's thread renames and removes files meanwhile.
            with contextlib.suppress(FileNotFoundError):
                held += os.path.getsize(os.path.join(parent, name))
    return held


def test_copies_equal_the_files_and_are_gone_at_the_end(tmp_path, storage):
    with Stager(files_of(storage, tmp_path, 1000)) as stager:
        copies = {path: read(stager.fetch(path)) for path in storage.files}

    assert copies == storage.files
    assert os.listdir(tmp_path) == []


def test_files_are_copied_in_order_before_they_are_fetched(tmp_path, storage):
    names = list(storage.files)
    with Stager(files_of(storage, tmp_path, 1000)) as stager:
        stager.fetch(names[-1])

        assert storage.opened == names


def test_a_copy_ahead_waits_for_room_and_starts_after_a_release(tmp_path, storage):
    a, b, c, *_ = storage.files
    with Stager(files_of(storage, tmp_path, 20)) as stager:
        first = stager.fetch(a)
        stager.fetch(b)
        assert not storage.asked[c].is_set()

        stager.release(a)

        assert read(stager.fetch(c)) == storage.files[c]
        assert not os.path.exists(first)


def test_copies_never_take_more_than_the_limit(tmp_path, storage):
    held = []
    # At each start of a copy: what is there, and the 10 bytes that come.
    storage.at_open = lambda: held.append(bytes_in(tmp_path) + 10)
    with Stager(files_of(storage, tmp_path, 25)) as stager:
        for path in storage.files:
            stager.fetch(path)
            held.append(bytes_in(tmp_path))
            stager.release(path)

    # Whether the next file is on its way already is up to the threads.
    assert max(held) <= 25


def test_a_file_over_the_limit_is_staged_alone(tmp_path, storage):
    a, b, c, *_ = storage.files
    storage.files[b] = b"b" * 100
    with Stager(files_of(storage, tmp_path, 20)) as stager:
        stager.fetch(a)
        assert not storage.asked[b].is_set()

        stager.release(a)

        assert bytes_in(os.path.dirname(stager.fetch(b))) == 100
        assert not storage.asked[c].is_set()
        stager.release(b)
        assert read(stager.fetch(c)) == storage.files[c]


def test_what_is_staged_can_be_read_while_the_storage_stalls(tmp_path, storage):
    a, b, c, *_ = storage.files
    storage.holds[c] = threading.Event()
    with Stager(files_of(storage, tmp_path, 1000)) as stager:
        assert storage.asked[c].wait(SAFETY_S)

        assert read(stager.fetch(a)) == storage.files[a]
        assert read(stager.fetch(b)) == storage.files[b]

        storage.holds[c].set()
        assert read(stager.fetch(c)) == storage.files[c]


@pytest.mark.parametrize(
    "fault", [b"", b"aaa", b"a" * 11, OSError("reset by peer"), ValueError("gone")]
)
def test_a_faulty_copy_is_tried_again(tmp_path, storage, fault):
    a, *_ = storage.files
    storage.faults[a] = [fault, fault]
    with Stager(files_of(storage, tmp_path, 1000), pauses=(0, 0)) as stager:
        copy = stager.fetch(a)

        assert read(copy) == storage.files[a]
        assert storage.opened[:3] == [a, a, a]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (b"bbb", "it ends after 3"),
        (b"b" * 12, "it is longer"),
        (OSError("reset by peer\nby a proxy"), "OSError: reset by peer"),
    ],
)
def test_a_file_that_stays_faulty_is_named(tmp_path, storage, fault, reason):
    a, b, c, *_ = storage.files
    storage.faults[b] = [fault, fault]
    with Stager(files_of(storage, tmp_path, 1000), pauses=(0,)) as stager:
        with pytest.raises(DataError) as error:
            stager.fetch(b)
        with pytest.raises(DataError, match=b):
            stager.fetch(c)

        assert stager.fetch(a)
    assert str(error.value) == (
        f"{b}: 10 bytes in the manifest, not copied to {stager.folder} in 2 attempts: "
        f"{reason}; check the storage and the room on the disk, or pack again"
    )


def test_an_incomplete_copy_has_no_name(tmp_path, storage):
    a, b, *_ = storage.files
    storage.faults[b] = [b"bbb"]
    with Stager(files_of(storage, tmp_path, 1000), pauses=()) as stager:
        with pytest.raises(DataError):
            stager.fetch(b)

        folder = os.path.dirname(stager.fetch(a))
        assert sorted(os.listdir(folder)) == ["0", "1.part"]


def test_who_waits_for_a_file_is_told_of_the_end(tmp_path, storage):
    _, b, *_ = storage.files
    storage.holds[b] = threading.Event()
    errors = []

    def fetch(stager):
        with pytest.raises(RunError) as error:
            stager.fetch(b)
        errors.append(str(error.value))
        storage.holds[b].set()

    with Stager(files_of(storage, tmp_path, 1000)) as stager:
        assert storage.asked[b].wait(SAFETY_S)
        waiting = threading.Thread(target=fetch, args=(stager,))
        waiting.start()
    waiting.join(SAFETY_S)

    assert errors == [f"{b}: not staged: copying has ended"]
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_absent_is_made(tmp_path, storage):
    with Stager(files_of(storage, tmp_path / "new" / "one", 1000)) as stager:
        assert stager.fetch(next(iter(storage.files))).startswith(f"{tmp_path}/new/one")

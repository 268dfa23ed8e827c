"""One set of functions for the disk, TensorFlow's file systems, and S3."""

import glob
import gzip
import os
import socket

import pytest

from data import paths
from data.errors import DataError, UsageError
from tests.object_store import BUCKET, s3_server
from tests.unreadable import make_unreadable


@pytest.fixture(scope="module")
def store():
    with s3_server():
        yield


@pytest.fixture(params=["disk", "s3", "tensorflow"])
def root(request, tmp_path):
    """An empty folder of each kind."""
    if request.param == "s3":
        request.getfixturevalue("store")
        return f"s3://{BUCKET}/{os.path.basename(tmp_path)}"
    # With a scheme the disk goes through TensorFlow: the same calls as for gs://.
    return str(tmp_path) if request.param == "disk" else f"file://{tmp_path}"


def written(path, content=b"x"):
    with paths.open_write(path) as file:
        file.write(content)
    return path


def read(path):
    with paths.open_read(path) as file:
        return file.read()


def test_a_file_is_read_as_it_was_written(root):
    path = written(f"{root}/a/b.bin", b"\x00\xff" * 1000)
    assert read(path) == b"\x00\xff" * 1000
    assert paths.size(path) == 2000
    assert paths.exists(path)
    assert not paths.is_dir(path)
    assert paths.is_dir(f"{root}/a")
    assert not paths.exists(f"{root}/a/c.bin")


def test_folders_list_what_is_in_them(root):
    for name in ("2/model.pb", "2/variables/data", "1/model.pb"):
        written(f"{root}/serving/{name}")
    assert paths.children(f"{root}/serving") == ["1", "2"]
    assert paths.children(f"{root}/serving/") == ["1", "2"]
    assert paths.walk(f"{root}/serving") == [
        "1/model.pb",
        "2/model.pb",
        "2/variables/data",
    ]
    assert paths.children(f"{root}/absent") == []


def test_renaming_a_file_replaces_the_target(root):
    old, new = written(f"{root}/old", b"new"), written(f"{root}/target", b"old")
    paths.rename(old, new)
    assert read(new) == b"new"
    assert not paths.exists(old)


def test_renaming_a_folder_moves_all_below_it(root):
    written(f"{root}/from/a/b", b"1")
    written(f"{root}/from/c", b"2")
    paths.rename(f"{root}/from", f"{root}/to")
    assert paths.walk(f"{root}/to") == ["a/b", "c"]
    assert not paths.exists(f"{root}/from")


def test_removing_a_folder_leaves_its_neighbours(root):
    written(f"{root}/gone/a/b")
    kept = written(f"{root}/gone-not/c")
    paths.remove_tree(f"{root}/gone")
    paths.remove_tree(f"{root}/gone")
    assert not paths.exists(f"{root}/gone")
    assert paths.exists(kept)


def test_copies_cross_file_systems(root, tmp_path):
    here = written(str(tmp_path / "here"), os.urandom(100_000))
    paths.copy(here, f"{root}/there/copy")
    paths.copy(f"{root}/there/copy", str(tmp_path / "back" / "again"))
    assert read(str(tmp_path / "back" / "again")) == read(here)


def test_a_folder_that_holds_only_folders_holds_no_file(root):
    paths.make_dirs(f"{root}/a/b")
    assert not paths.holds_files(f"{root}/a")
    written(f"{root}/a/b/c")
    assert paths.holds_files(f"{root}/a")


TREE = ("a/1.csv", "a/2.txt", "a/b/1.csv", "a/b/c/1.csv", ".a/1.csv", "a/.b/1.csv")


@pytest.mark.parametrize(
    "pattern",
    [
        "a/*.csv", "*/*.csv", "a/[12].*", "a/?.csv", "*/b/*.csv", "**/1.csv", "a/**",
        "a/**/c/*", ".*/1.csv", "a/.b/*", "none/*", "a/1.csv/*", "**/none/*",
    ],
)  # fmt: skip
def test_a_pattern_names_what_pythons_glob_names(tmp_path, monkeypatch, pattern):
    for name in TREE:
        written(f"{tmp_path}/{name}")
    monkeypatch.chdir(tmp_path)
    for given in (pattern, f"{tmp_path}/{pattern}"):
        found = glob.glob(given, recursive=True)
        assert paths.matching(given) == sorted({one.rstrip("/") for one in found})


def test_a_pattern_looks_into_every_file_system(root):
    for name in ("a/x.csv", "b/x.csv", "b/y.txt"):
        written(f"{root}/{name}")
    both = [f"{root}/a/x.csv", f"{root}/b/x.csv"]
    assert paths.matching(f"{root}/*/*.csv") == both
    assert paths.matching(f"{root}/**/*.csv") == both


@pytest.mark.parametrize(
    "look",
    [
        paths.walk,
        paths.holds_files,
        lambda base: paths.children(f"{base}/b"),
        lambda base: paths.exists(f"{base}/b/x.csv"),
        lambda base: paths.is_dir(f"{base}/b/c"),
        lambda base: paths.matching(f"{base}/*/*.csv"),
        lambda base: paths.matching(f"{base}/**/*.csv"),
        lambda base: paths.matching(f"{base}/*/x.csv"),
    ],
)
def test_a_folder_without_rights_is_named_not_passed_over(tmp_path, monkeypatch, look):
    written(f"{tmp_path}/b/x.csv")
    make_unreadable(monkeypatch, tmp_path / "b")
    with pytest.raises(PermissionError) as caught:
        look(str(tmp_path))
    assert str(caught.value.filename).startswith(f"{tmp_path}/b")


def test_a_pattern_does_not_care_for_folders_that_it_does_not_enter(
    tmp_path, monkeypatch
):
    written(f"{tmp_path}/a/x.csv")
    written(f"{tmp_path}/b/x.csv")
    make_unreadable(monkeypatch, tmp_path / "b")
    assert paths.matching(f"{tmp_path}/a*/*.csv") == [f"{tmp_path}/a/x.csv"]


@pytest.mark.parametrize("path", ["http://h/x.csv", "foo://x", "/a/b://c"])
def test_a_scheme_that_nothing_reaches_is_refused(path):
    with pytest.raises(UsageError) as caught:
        paths.exists(path)
    assert str(caught.value) == (
        f"{path}: must be local, gs://, s3://, minio:// or hdfs://; copy it here"
    )


def test_a_name_that_ends_in_gz_is_not_compressed_once_more(root):
    path = written(f"{root}/shard.gz", gzip.compress(b"rows", mtime=0))
    assert gzip.decompress(read(path)) == b"rows"
    assert paths.size(path) == len(gzip.compress(b"rows", mtime=0))


@pytest.mark.parametrize("name", ["absent", "folder"])
def test_only_a_file_of_a_store_has_a_size(store, name):
    written(f"s3://{BUCKET}/sizes/folder/file")
    with pytest.raises(FileNotFoundError, match="no such file"):
        paths.size(f"s3://{BUCKET}/sizes/{name}")


def test_a_write_that_fails_leaves_no_object_in_a_store(store):
    path = f"s3://{BUCKET}/half/shard"

    def fail():
        with paths.open_write(path) as file:
            file.write(b"half")
            raise RuntimeError("disk of the source failed")

    with pytest.raises(RuntimeError, match="of the source"):
        fail()
    assert not paths.exists(path)


@pytest.mark.parametrize("look", [read, paths.size])
def test_a_pipe_a_socket_or_a_device_is_no_file(tmp_path, look):
    os.mkfifo(tmp_path / "pipe")
    os.symlink("/dev/zero", tmp_path / "device")
    with socket.socket(socket.AF_UNIX) as server:
        # The path of a socket has at most some 100 bytes.
        server.bind(os.path.relpath(tmp_path / "socket"))
    for name in ("pipe", "device", "socket"):
        fault = f"{name}: must be a regular file, is a (named )?{name}"
        with pytest.raises(DataError, match=fault):
            look(str(tmp_path / name))


@pytest.mark.parametrize(
    "name", [".cache", "_temporary", "lost+found", ".cache/private"]
)
def test_folders_that_nobody_reads_need_no_right(tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a.csv").touch()
    make_unreadable(monkeypatch, tmp_path / name)
    assert paths.walk(str(tmp_path)) == ["a.csv"]


def test_a_hidden_folder_that_is_asked_for_needs_its_right(tmp_path, monkeypatch):
    (tmp_path / "_logs").mkdir()
    make_unreadable(monkeypatch, tmp_path / "_logs")
    with pytest.raises(PermissionError):
        paths.walk(f"{tmp_path}/_logs")


def test_what_cannot_be_is_not_there(tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert not paths.exists(f"{tmp_path}/circle")
    assert not paths.exists(f"{tmp_path}/a\0b")
    assert paths.matching(f"{tmp_path}/**/x.csv") == []

"""``ctr ingest`` and ``ctr verify`` as a user calls them."""

import json
import os
import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner

from data.errors import RunError, UsageError
from pipeline.cli.ingest import complete_or_absent, ingest
from pipeline.cli.verify import verify
from tests.unreadable import make_unreadable

CONFIG = """
name: test
data:
  keys: {label: click, user_id: user}
  split: {by: hash, columns: [user]}
  features: [{kind: categorical, name: item, buckets: 10}]
"""


def call(command, *arguments):
    return CliRunner().invoke(command, list(map(str, arguments)))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG)
    rows = "".join(f"u{i},{i},{i % 2}\n" for i in range(100))
    (tmp_path / "log.csv").write_text("user,item,click\n" + rows)
    return tmp_path


def arguments(folder, output="out"):
    return [
        "--config", folder / "config.yaml", "--input", folder / "log.csv",
        "--output", folder / output,
    ]  # fmt: skip


@pytest.mark.engine
def test_ingest_then_verify(folder):
    result = call(ingest, *arguments(folder), "--shards", 3, "--json")
    assert result.exception is None
    told = json.loads(result.stdout)
    assert (told["rows_read"], told["rows_written"]) == (100, 100)
    assert told["splits"]["train"]["shards"] == 3
    shards = sorted((folder / "out" / "Split-train").iterdir())
    checked = call(verify, folder / "out", "--json")
    assert json.loads(checked.stdout) == {"good": 5, "bad": []}
    shards[1].write_bytes(shards[1].read_bytes()[:-1])
    checked = call(verify, folder / "out")
    assert isinstance(checked.exception, RunError)
    assert "data_tfrecord-00001-of-00003.gz: no end marker" in checked.stdout
    assert "4 good, 1 bad" in checked.stdout
    again = call(ingest, *arguments(folder))
    assert isinstance(again.exception, UsageError)
    assert "not empty" in str(again.exception)


@pytest.mark.engine
def test_table_and_a_failure_that_leaves_nothing(folder):
    result = call(ingest, *arguments(folder))
    assert "rows read 100, written 100, quarantined 0" in result.stdout
    (folder / "log.csv").write_text("user,item,click\nu1,1,7\n")
    failed = call(ingest, *arguments(folder, "bad"))
    assert "column 'click': must be 0 or 1, got '7'" in str(failed.exception)
    assert sorted(p.name for p in folder.iterdir()) == ["config.yaml", "log.csv", "out"]


def test_a_log_must_be_named(folder):
    result = call(ingest, *arguments(folder)[:2], "--output", folder / "out")
    assert isinstance(result.exception, UsageError)


def test_output_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "new"
    with complete_or_absent(str(target)) as scratch:
        assert not target.exists()
        (tmp_path / scratch / "file").write_text("x")
    assert (target / "file").read_text() == "x"
    with pytest.raises(KeyError), complete_or_absent(str(tmp_path / "other")):
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_a_link_to_a_folder_stays_and_the_folder_is_filled(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    with complete_or_absent(str(tmp_path / "link")) as scratch:
        (tmp_path / scratch / "file").write_text("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "file").read_text() == "x"


@pytest.mark.parametrize(("output", "fault"), [("", "no name"), ("/", "not empty")])
def test_an_output_that_cannot_be_made_is_refused(output, fault):
    with pytest.raises(UsageError, match=fault), complete_or_absent(output):
        pass


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ("in", "in/sub"),
        ("in", "in"),
        ("in/", "in/a/b"),
        ("in/../in", "link/sub"),
        ("in/*", "in/sub/deep"),
        ("s3://bucket/in", "s3://bucket/in/sub"),
    ],
)
def test_an_output_that_the_next_ingest_would_read_is_refused(folder, given, output):
    (folder / "in").mkdir()
    (folder / "link").symlink_to("in")
    places = [one if "://" in one else folder / one for one in (given, output)]
    command = ["--config", folder / "config.yaml", "--input", places[0]]
    error = call(ingest, *command, "--output", places[1]).exception
    assert isinstance(error, UsageError)
    assert f"--output {places[1]}: lies in --input {places[0]}" in str(error)


def test_an_output_above_the_input_is_not_empty(folder):
    (folder / "out").mkdir()
    (folder / "log.csv").rename(folder / "out" / "log.csv")
    command = ["--config", folder / "config.yaml", "--input", folder / "out/log.csv"]
    error = call(ingest, *command, "--output", folder / "out").exception
    assert isinstance(error, UsageError)
    assert "not empty" in str(error)


def test_what_a_killed_ingest_left_is_removed_by_the_next(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = socket.gethostname()
    kept = [
        f".out.partial-{host}-{os.getppid()}",  # at work
        f".out.partial-other-than-{host}-{dead.pid}",  # of another machine
        f".out2.partial-{host}-{dead.pid}",  # of another output
    ]
    for name in [*kept, f".out.partial-{host}-{dead.pid}"]:
        (tmp_path / name).mkdir()
    with complete_or_absent(str(tmp_path / "out")):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {*kept, "out"}


def test_more_shards_than_a_disk_takes_are_refused(folder):
    result = call(ingest, *arguments(folder), "--shards", 10_001)
    assert result.exit_code == 2
    assert "1<=x<=10000" in result.output
    assert not (folder / "out").exists()


def test_verify_single_files(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(b"placeholder")
    (tmp_path / "_SUCCESS").write_text("")
    result = call(verify, tmp_path)
    assert (
        "a.tfrecord: record 0 (from 0) at offset 0: cut after 11 bytes" in result.stdout
    )
    assert "0 good, 1 bad" in result.stdout
    assert isinstance(call(verify, tmp_path / "none").exception, UsageError)


def test_verify_names_a_pipe_and_goes_on(tmp_path):
    os.mkfifo(tmp_path / "a.tfrecord")
    (tmp_path / "b.tfrecord").write_bytes(b"")
    result = call(verify, tmp_path)
    assert "a.tfrecord: must be a regular file, is a named pipe" in result.stdout
    assert "1 good, 1 bad" in result.stdout


@pytest.mark.parametrize("with_manifest", [True, False])
def test_verify_names_a_file_without_rights_and_goes_on(
    tmp_path, monkeypatch, with_manifest
):
    for name in ("a", "b"):
        shard = tmp_path / "Split-train" / name
        shard.parent.mkdir(exist_ok=True)
        shard.write_bytes(b"")
    if with_manifest:
        sums = {"rows": 0, "clicks": 0, "bytes": 0, "payload_bytes": 0, "crc32c": 0}
        shards = [{"file": f"Split-train/{one}", **sums} for one in "ab"]
        train = {"rows": 0, "clicks": 0, "shards": shards}
        read = {"rows_read": 0, "rows_written": 0, "rows_quarantined": 0}
        content = {**read, "splits": {"train": train}}
        (tmp_path / "manifest.json").write_text(json.dumps(content))
    make_unreadable(monkeypatch, tmp_path / "Split-train" / "a")
    result = call(verify, tmp_path)
    assert f"{tmp_path}/Split-train/a: permission denied; give this" in result.stdout
    assert "1 good, 1 bad" in result.stdout
    assert isinstance(result.exception, RunError)


def test_names_with_control_characters_stay_in_one_line(tmp_path):
    (tmp_path / "a\x1b[31m\n.tfrecord").write_bytes(b"placeholder")
    first, *_ = call(verify, tmp_path).stdout.splitlines()
    assert first.startswith(f"{tmp_path}/a\\x1b[31m\\n.tfrecord: ")
    assert first.endswith("0 records before it are readable")

"""Full disks, missing rights, an old baseline, kills: one line, and the way on works.

The disks are small tmpfs mounts, which need root.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, small_demo

pytestmark = [pytest.mark.slow, pytest.mark.engine]

NO_ROOM = "no space left on device; free some, or write to another disk"
READ_ONLY = "read-only file system; mount it for writing, or write elsewhere"


class Disk:
    """A disk of four MiB."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, *, free: int) -> None:
        """Leaves so many bytes."""
        room = os.statvfs(self.path)
        size = room.f_bavail * room.f_frsize - free
        (self.path / ".filler").write_bytes(bytes(size))

    def empty(self) -> None:
        (self.path / ".filler").unlink()

    def make_read_only(self) -> None:
        subprocess.run(["mount", "-o", "remount,ro", str(self.path)], check=True)

    def names(self) -> list[str]:
        return sorted(one.name for one in self.path.iterdir() if one.name != ".filler")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a tmpfs")
    yield Disk(path)
    subprocess.run(["umount", str(path)], check=True)


def ctr(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pipeline.cli.main", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def refused(*arguments: object) -> str:
    """The one line by which a command fails with exit code 1."""
    done = ctr(*arguments)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.stderr
    return lines[0]


def config_file(folder: Path, *features: str) -> Path:
    """The demo with few rows and features, whose gate any model passes."""
    content = yaml.safe_load(small_demo(folder).read_text())
    content["simulate"] = {"rows": 3_000, "users": 150, "days": 4}
    content["model"] = {"name": "logistic_regression"}
    content["serving_check"] = {"enabled": False}
    content["evaluate"] = {"gates": {"overall": {"gauc": {"min": 0.1}}}}
    declared = content["data"]["features"]
    content["data"]["features"] = [one for one in declared if one["name"] in features]
    path = folder / f"{'-'.join(features)}.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of about 600 kB."""
    folder = tmp_path_factory.mktemp("log") / "log"
    done = ctr("simulate", "--rows", 3_000, "--users", 150, "--output", folder)
    assert done.returncode == 0, done.stderr
    return folder


def pushed_versions(serving: Path) -> None:
    """Two versions of 300 kB."""
    for number, letter in (("1", b"a"), ("2", b"b")):
        (serving / number).mkdir(parents=True)
        (serving / number / "saved_model.pb").write_bytes(letter * 300_000)


def test_simulate_on_a_full_disk_leaves_nothing(disk: Disk) -> None:
    disk.fill(free=100_000)
    line = refused("simulate", "--rows", 3_000, "--output", disk.path / "log")
    assert NO_ROOM in line
    assert disk.names() == []


def test_ingest_on_a_full_disk_leaves_nothing(
    disk: Disk, log: Path, tmp_path: Path
) -> None:
    config = config_file(tmp_path, "position", "price")
    command = ("ingest", "--config", config, "--input", log)
    disk.fill(free=20_000)
    line = refused(*command, "--output", disk.path / "shards")
    assert str(disk.path) in line
    assert NO_ROOM in line
    assert disk.names() == []
    disk.empty()
    assert ctr(*command, "--output", disk.path / "shards").returncode == 0


def test_roll_back_on_a_full_disk_leaves_the_served_model(disk: Disk) -> None:
    pushed_versions(disk.path)
    disk.fill(free=200_000)
    command = ("rollback", "--serving", disk.path, "--json")
    assert NO_ROOM in refused(*command)
    assert disk.names() == [".lock", ".withdrawn.json", "1", "2"]
    disk.empty()
    result = json.loads(ctr(*command).stdout)
    assert [one["withdrawn"] for one in result["versions"]] == [False, True, False]


def test_what_cannot_be_written_is_named_with_a_remedy(
    disk: Disk, log: Path, tmp_path: Path
) -> None:
    pushed_versions(disk.path / "small" / "serving")
    disk.make_read_only()
    config = config_file(tmp_path, "position", "price")
    commands: list[tuple[object, ...]] = [
        ("run", "--config", config, "--input", log, "--root", disk.path),
        ("ingest", "--config", config, "--input", log, "--output", disk.path / "out"),
        ("rollback", "small", "--root", disk.path),
    ]
    for command in commands:
        line = refused(*command)
        assert str(disk.path) in line
        assert READ_ONLY in line


@pytest.mark.skipif(os.geteuid() == 0, reason="rights do not bind root")
def test_a_folder_without_rights_is_named(log: Path, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    root.mkdir(mode=0o500)
    config = config_file(tmp_path, "position", "price")
    line = refused("run", "--config", config, "--input", log, "--root", root)
    assert f"{root}/small: permission denied; give this user the rights" in line


@pytest.mark.e2e
def test_a_run_on_a_full_disk_says_so_and_the_next_completes(
    disk: Disk, log: Path, tmp_path: Path
) -> None:
    config = config_file(tmp_path, "position", "price")
    command = ("run", "--config", config, "--input", log, "--root", disk.path)
    # Enough for ML Metadata, not for the shards.
    disk.fill(free=420_000)
    line = refused(*command)
    assert " failed: " in line
    assert NO_ROOM in line
    base = disk.path / "small"
    assert not (base / "serving").exists()
    disk.empty()
    again = ctr(*command, "--json")
    assert again.returncode == 0, again.stderr
    result = json.loads(again.stdout)
    assert result["data"]["rows_read"] == 3_000
    assert Path(result["pushed"], "saved_model.pb").exists()
    report = ("report", "--root", disk.path)
    disk.fill(free=50_000)
    before = sorted((base / "reports").iterdir())
    assert NO_ROOM in refused(*report)
    assert sorted((base / "reports").iterdir()) == before


@pytest.mark.e2e
def test_a_baseline_that_reads_a_dropped_feature_is_named(tmp_path: Path) -> None:
    root = tmp_path / "runs"

    def command(*features: str) -> tuple[object, ...]:
        return "run", "--config", config_file(tmp_path, *features), "--root", root

    first = json.loads(ctr(*command("device", "price"), "--json").stdout)
    line = refused(*command("position", "price"))
    assert first["model"] in line
    assert "device (bytes)" in line
    assert "--without-baseline" in line
    second = ctr(*command("position", "price"), "--without-baseline", "--json")
    assert second.returncode == 0, second.stderr
    result = json.loads(second.stdout)
    assert result["baseline"] is None
    assert result["pushed"]


@pytest.mark.e2e
def test_the_run_after_a_kill_makes_everything_whole() -> None:
    # The same as ``python -m benchmarks.kills``, in three places.
    strata = ["Transform", "half copied", "renamed, not recorded"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kills", "--only", *strata],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "kills with a fault, of 3: 0 (at most 0): met" in done.stdout

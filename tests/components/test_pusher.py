"""A pushed version is complete or absent, and always the newest."""

import multiprocessing
import shutil
import threading
from pathlib import Path

import pytest

from data.errors import RunError

pytestmark = pytest.mark.engine


def saved_model(folder: Path) -> Path:
    (folder / "variables").mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"graph")
    (folder / "variables" / "data").write_bytes(b"weights")
    return folder


def test_version_is_the_time_unless_a_newer_one_exists(tmp_path: Path) -> None:
    from components.pusher import next_version

    assert next_version(str(tmp_path), 100) == 100
    (tmp_path / "99").mkdir()
    (tmp_path / "latest").mkdir()
    assert next_version(str(tmp_path), 100) == 100
    # The clock went back, or two pushes fell into one second.
    (tmp_path / "200").mkdir()
    assert next_version(str(tmp_path), 100) == 201


def test_names_that_no_model_server_reads_do_not_count(tmp_path: Path) -> None:
    from components.pusher import next_version

    for name in ("²", "٣", "0999", str(2**63)):
        (tmp_path / name).mkdir()
    assert next_version(str(tmp_path), 100) == 100


def test_there_is_no_version_above_the_highest_int64(tmp_path: Path) -> None:
    from components.pusher import next_version

    (tmp_path / str(2**63 - 2)).mkdir()
    assert next_version(str(tmp_path), 100) == 2**63 - 1
    (tmp_path / str(2**63 - 1)).mkdir()
    with pytest.raises(RunError, match=r"/9223372036854775807: has the highest"):
        next_version(str(tmp_path), 100)


def test_published_model_is_a_whole_copy(tmp_path: Path) -> None:
    from components.pusher import publish

    source = saved_model(tmp_path / "model")
    serving = tmp_path / "serving"
    serving.mkdir()
    publish(str(source), str(serving / "7"))
    assert [path.name for path in serving.iterdir()] == ["7"]
    assert (serving / "7" / "saved_model.pb").read_bytes() == b"graph"
    assert (serving / "7" / "variables" / "data").read_bytes() == b"weights"


def test_copy_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    from components import pusher

    source = saved_model(tmp_path / "model")
    serving = tmp_path / "serving"
    serving.mkdir()

    def disk_full(source: str, target: str) -> None:
        Path(target).mkdir()
        (Path(target) / "saved_model.pb").write_bytes(b"gra")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copytree", disk_full)
    with pytest.raises(OSError, match="No space left"):
        pusher.publish(str(source), str(serving / "7"))
    assert list(serving.iterdir()) == []


def test_a_disk_that_is_full_is_named_with_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from components import pusher

    def full(source: str, target: str) -> None:
        # As `copytree` raises it: all files at once, without an error number.
        raise shutil.Error([(source, target, "[Errno 28] No space left on device")])

    monkeypatch.setattr(pusher.shutil, "copytree", full)
    with pytest.raises(RunError, match=f"^{tmp_path}/7: no space left on device"):
        pusher.publish(str(saved_model(tmp_path / "model")), str(tmp_path / "7"))


def test_copy_in_progress_is_no_version_to_a_model_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from components import pusher

    source = saved_model(tmp_path / "model")
    serving = tmp_path / "serving"
    serving.mkdir()
    real = os.replace
    seen: list[str] = []

    def watched(source: str, target: str) -> None:
        seen.extend(path.name for path in serving.iterdir())
        assert (Path(source) / "variables" / "data").exists()
        real(source, target)

    monkeypatch.setattr(os, "replace", watched)
    pusher.publish(str(source), str(serving / "7"))
    assert len(seen) == 1
    assert not seen[0].isdigit()


def versions(serving: Path) -> list[int]:
    return sorted(int(path.name) for path in serving.iterdir() if path.name.isdigit())


def test_what_a_killed_push_left_is_removed_by_the_next(tmp_path: Path) -> None:
    from components.pusher import push

    source = saved_model(tmp_path / "model")
    serving = tmp_path / "serving"
    saved_model(serving / ".push-0123")
    saved_model(serving / "notes")
    assert push(str(source), str(serving), 7) == str(serving / "7")
    names = sorted(path.name for path in serving.iterdir())
    assert names == [".lock", "7", "notes"]


def test_a_push_waits_for_another_and_leaves_its_copy_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from components import pusher

    source = str(saved_model(tmp_path / "model"))
    serving = tmp_path / "serving"
    copied, go_on = threading.Event(), threading.Event()
    publish = pusher.publish

    def slow(source: str, target: str) -> None:
        saved_model(serving / ".push-of-the-first")
        copied.set()
        assert go_on.wait(20)
        (serving / ".push-of-the-first").rename(target)

    first = threading.Thread(target=lambda: pusher.push(source, str(serving), 7))
    monkeypatch.setattr(pusher, "publish", slow)
    first.start()
    assert copied.wait(20)
    monkeypatch.setattr(pusher, "publish", publish)
    second = threading.Thread(target=lambda: pusher.push(source, str(serving), 7))
    second.start()
    second.join(0.2)
    assert second.is_alive()
    assert (serving / ".push-of-the-first" / "saved_model.pb").exists()
    go_on.set()
    first.join()
    second.join()
    assert versions(serving) == [7, 8]


def test_pushes_of_several_processes_each_get_a_version(tmp_path: Path) -> None:
    from components.pusher import push

    source = str(saved_model(tmp_path / "model"))
    serving = tmp_path / "serving"
    fork = multiprocessing.get_context("fork")
    processes = [
        fork.Process(target=push, args=(source, str(serving), 7)) for _ in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert versions(serving) == [7, 8, 9, 10]
    for version in versions(serving):
        assert (serving / str(version) / "variables" / "data").exists()


def test_a_failure_before_the_push_leaves_the_serving_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    from tfx.types import standard_artifacts
    from tfx.utils import io_utils

    from components.pusher import Executor

    model, pushed, blessing = (
        standard_artifacts.Model(),
        standard_artifacts.PushedModel(),
        standard_artifacts.ModelBlessing(),
    )
    model.uri, pushed.uri = str(tmp_path / "model"), str(tmp_path / "pushed")
    saved_model(tmp_path / "model" / "Format-Serving")
    blessing.uri = str(tmp_path)
    (tmp_path / "BLESSED").touch()
    blessing.set_int_custom_property("blessed", 1)

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(io_utils, "copy_dir", full)
    base = {"filesystem": {"base_directory": str(tmp_path / "serving")}}
    with pytest.raises(OSError, match="No space left"):
        Executor().Do(
            {"model": [model], "model_blessing": [blessing]},
            {"pushed_model": [pushed]},
            {"push_destination": json.dumps(base)},
        )
    assert not (tmp_path / "serving").exists()

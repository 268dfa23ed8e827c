"""A pushed version is complete or absent, and always the newest."""

from pathlib import Path

import pytest

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

"""Pushed versions and the way back."""

import json
import os
from pathlib import Path

import pytest

from data.errors import DataError, RunError, UsageError
from tests.unreadable import make_unreadable

pytestmark = pytest.mark.engine


def push(base: Path, number: int, content: str) -> None:
    folder = base / str(number) / "variables"
    folder.mkdir(parents=True)
    (folder / "data").write_text(content)
    (folder.parent / "saved_model.pb").write_text("graph")


def served(base: Path) -> str:
    """What a model server takes: the highest number."""
    newest = max(int(p.name) for p in base.iterdir() if p.name.isdigit())
    return (base / str(newest) / "variables" / "data").read_text()


def test_the_way_back_is_a_new_version_above_all(tmp_path: Path) -> None:
    from components.serving_versions import roll_back, versions

    push(tmp_path, 10, "a")
    push(tmp_path, 20, "b")
    left, made = roll_back(str(tmp_path), now=15)
    assert (left.number, made.number) == (20, 21)
    assert served(tmp_path) == "a"
    found = versions(str(tmp_path))
    assert [(one.number, one.withdrawn) for one in found] == [
        (10, False),
        (20, True),
        (21, False),
    ]


def test_going_back_twice_does_not_return_to_what_was_left(tmp_path: Path) -> None:
    from components.serving_versions import roll_back

    for number, content in enumerate("abc", start=1):
        push(tmp_path, number, content)
    roll_back(str(tmp_path), now=100)
    assert served(tmp_path) == "b"
    roll_back(str(tmp_path), now=100)
    assert served(tmp_path) == "a"
    with pytest.raises(UsageError, match="no earlier model to go back to"):
        roll_back(str(tmp_path), now=100)


def test_a_withdrawn_model_comes_back_only_when_it_is_named(tmp_path: Path) -> None:
    from components.serving_versions import roll_back, versions

    push(tmp_path, 1, "a")
    push(tmp_path, 2, "b")
    roll_back(str(tmp_path), now=100)
    roll_back(str(tmp_path), now=100, to=2)
    assert served(tmp_path) == "b"
    # Version 1 and its copy hold the model that was left last.
    assert [one.withdrawn for one in versions(str(tmp_path))] == [
        True,
        False,
        True,
        False,
    ]


def test_what_cannot_be_done_is_named(tmp_path: Path) -> None:
    from components.serving_versions import roll_back

    with pytest.raises(UsageError, match="no pushed versions here"):
        roll_back(str(tmp_path), now=1)
    push(tmp_path, 1, "a")
    push(tmp_path, 2, "a")
    with pytest.raises(UsageError, match="no earlier model"):
        roll_back(str(tmp_path), now=1)
    with pytest.raises(UsageError, match=r"--to 3: no such version.*Known: 1, 2"):
        roll_back(str(tmp_path), now=1, to=3)
    with pytest.raises(UsageError, match="is the same model"):
        roll_back(str(tmp_path), now=1, to=1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1", "2"]


def test_a_damaged_list_is_named(tmp_path: Path) -> None:
    from components.serving_versions import versions
    from components.withdrawals import WITHDRAWN_FILE

    push(tmp_path, 1, "a")
    for content in ("{", '{"a": 1}', '"ab"', "[1]", "[" * 100_000):
        (tmp_path / WITHDRAWN_FILE).write_text(content)
        with pytest.raises(DataError, match="not the list of withdrawn models"):
            versions(str(tmp_path))


def test_only_a_folder_with_the_plain_name_of_an_int64_is_a_version(
    tmp_path: Path,
) -> None:
    from components.serving_versions import versions

    push(tmp_path, 7, "a")
    for name in ("²", "٣", "008", "-9", str(2**63), "9" * 20):
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").touch()
    (tmp_path / "10").touch()
    assert [one.number for one in versions(str(tmp_path))] == [7]


def test_a_roll_back_killed_before_its_push_is_simply_called_again(
    tmp_path: Path,
) -> None:
    from components.serving_versions import roll_back
    from components.withdrawals import tree_digest, withdraw

    for number, content in enumerate("abc", start=1):
        push(tmp_path, number, content)
    # What a kill leaves between the two steps: the list, and no push.
    left, target = (tree_digest(str(tmp_path / name)) for name in ("3", "2"))
    withdraw(str(tmp_path), left, in_favour_of=target)
    roll_back(str(tmp_path), now=100)
    assert served(tmp_path) == "b"


@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()])
def test_a_push_that_fails_leaves_the_list_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    from components import serving_versions
    from components.withdrawals import withdrawn_models

    for number, content in enumerate("abc", start=1):
        push(tmp_path, number, content)
    serving_versions.roll_back(str(tmp_path), now=100)
    before = withdrawn_models(str(tmp_path))

    def failing(source: str, base: str, now: int) -> str:
        assert withdrawn_models(base) != before
        raise error

    monkeypatch.setattr(serving_versions, "push", failing)
    with pytest.raises(type(error)):
        serving_versions.roll_back(str(tmp_path), now=100)
    assert withdrawn_models(str(tmp_path)) == before


def test_where_no_version_can_follow_nothing_is_withdrawn(tmp_path: Path) -> None:
    from components.serving_versions import roll_back

    push(tmp_path, 5, "a")
    push(tmp_path, 2**63 - 1, "b")
    with pytest.raises(RunError, match=rf"{tmp_path}/{2**63 - 1}: has the highest"):
        roll_back(str(tmp_path), now=100)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["5", str(2**63 - 1)]


@pytest.mark.parametrize("barred", ["1", "1/variables", "1/variables/data"])
def test_what_cannot_be_read_is_named_before_anything_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, barred: str
) -> None:
    from components.serving_versions import roll_back, versions

    push(tmp_path, 1, "a")
    push(tmp_path, 2, "b")
    with monkeypatch.context() as patch:
        make_unreadable(patch, tmp_path / barred)
        for look in (versions, lambda base: roll_back(base, now=100)):
            with pytest.raises(PermissionError, match=f"{tmp_path}/{barred}"):
                look(str(tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1", "2"]


def test_the_list_is_json_that_other_tools_read(tmp_path: Path) -> None:
    from components.serving_versions import roll_back
    from components.withdrawals import WITHDRAWN_FILE, tree_digest

    push(tmp_path, 1, "a")
    push(tmp_path, 2, "b")
    roll_back(str(tmp_path), now=100)
    content = json.loads((tmp_path / WITHDRAWN_FILE).read_text())
    assert content == [tree_digest(str(tmp_path / "2"))]


def test_a_push_into_a_store_that_was_killed_is_no_version(tmp_path: Path) -> None:
    from components.serving_versions import roll_back, versions

    push(tmp_path, 100, "a")
    push(tmp_path, 200, "b")
    push(tmp_path, 300, "c")
    # In a store the files come one by one, this one last.
    (tmp_path / "300" / "saved_model.pb").unlink()
    assert [one.number for one in versions(str(tmp_path))] == [100, 200]
    left, made = roll_back(str(tmp_path), now=1)
    assert (left.number, made.number) == (200, 301)
    assert served(tmp_path) == "a"


def test_a_pipe_in_a_version_is_named(tmp_path: Path) -> None:
    from components.serving_versions import roll_back, versions

    push(tmp_path, 1, "a")
    push(tmp_path, 2, "b")
    os.mkfifo(tmp_path / "1" / "pipe")
    for look in (versions, lambda base: roll_back(base, now=100)):
        with pytest.raises(DataError, match="1/pipe: must be a regular file"):
            look(str(tmp_path))
    assert served(tmp_path) == "b"

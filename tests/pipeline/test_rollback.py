"""``ctr rollback``: another model is served, and another one is the baseline."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from data.errors import UsageError

pytestmark = pytest.mark.engine

NAME = "small"


class Pushed:
    """A pipeline's folder with a model for each letter, blessed and pushed in turn."""

    def __init__(self, root: Path, letters: str) -> None:
        from ml_metadata.proto import metadata_store_pb2 as pb

        from pipeline.local_runner import Folders
        from pipeline.metadata_store import open_store

        self.root, self.folders = root, Folders(root / NAME)
        self.folders.base.mkdir()
        store = open_store(self.folders.metadata)
        kind = store.put_artifact_type(pb.ArtifactType(name="ModelBlessing"))
        for number, letter in enumerate(letters, start=1):
            model = self.folders.artifacts / f"Trainer/model/{number}"
            for folder in (
                model / "Format-Serving",
                self.folders.serving / str(number),
            ):
                folder.mkdir(parents=True)
                (folder / "saved_model.pb").write_text(letter)
            blessing = pb.Artifact(type_id=kind, uri=f"gate/{number}")
            blessing.custom_properties["blessed"].int_value = 1
            blessing.custom_properties["current_model"].string_value = str(model)
            blessing.custom_properties["current_model_id"].int_value = number
            store.put_artifacts([blessing])

    def rollback(self, *arguments: str) -> Result:
        from pipeline.cli.rollback import rollback

        command = [NAME, "--root", str(self.root), *arguments]
        return CliRunner().invoke(rollback, command, standalone_mode=False)

    def served(self) -> str:
        found = [p for p in self.folders.serving.iterdir() if p.name.isdigit()]
        newest = max(found, key=lambda version: int(version.name))
        return (newest / "saved_model.pb").read_text()

    def baseline(self) -> str | None:
        """What `ctr run` takes as its baseline."""
        from components.withdrawals import withdrawn_models
        from pipeline.blessings import follow_withdrawals, latest_blessed

        withdrawn = withdrawn_models(str(self.folders.serving))
        follow_withdrawals(self.folders.metadata, withdrawn)
        model = latest_blessed(self.folders.metadata)
        return model and Path(model, "saved_model.pb").read_text()


def test_the_model_that_was_left_is_no_baseline(tmp_path: Path) -> None:
    pushed = Pushed(tmp_path, "abc")
    assert (pushed.served(), pushed.baseline()) == ("c", "c")
    done = pushed.rollback()
    assert done.exception is None
    assert "the model before 3" in done.output
    assert (pushed.served(), pushed.baseline()) == ("b", "b")


def test_a_model_that_comes_back_is_blessed_again(tmp_path: Path) -> None:
    pushed = Pushed(tmp_path, "ab")
    pushed.rollback()
    assert pushed.rollback("--to", "2").exception is None
    # "b" is the latest again; "a", which was left last, is none any more.
    assert (pushed.served(), pushed.baseline()) == ("b", "b")
    pushed.rollback("--to", "1")
    assert (pushed.served(), pushed.baseline()) == ("a", "a")


def test_json_tells_versions_and_what_is_served(tmp_path: Path) -> None:
    pushed = Pushed(tmp_path, "ab")
    result = json.loads(pushed.rollback("--json").output)
    assert result["left"] == 2
    assert [one["withdrawn"] for one in result["versions"]] == [False, True, False]
    assert [one["served"] for one in result["versions"]] == [False, False, True]
    listed = json.loads(pushed.rollback("--list", "--json").output)
    assert listed["versions"] == result["versions"]


def test_a_roll_back_killed_before_the_push_is_simply_called_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from components import serving_versions

    pushed = Pushed(tmp_path, "abc")

    def killed(source: str, base: str, now: int) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(serving_versions, "push", killed)
        assert pushed.rollback().exception is not None
    assert pushed.served() == "c"
    assert pushed.rollback().exception is None
    # Not "a": the repeated call goes where the first one wanted to go.
    assert (pushed.served(), pushed.baseline()) == ("b", "b")


def test_a_served_model_that_no_push_recorded_is_withdrawn_all_the_same(
    tmp_path: Path,
) -> None:
    # The database of ``Pushed`` knows blessings, and not one push.
    pushed = Pushed(tmp_path, "ab")
    pushed.rollback()
    assert pushed.baseline() == "a"


def test_without_a_database_only_the_served_model_changes(tmp_path: Path) -> None:
    pushed = Pushed(tmp_path, "ab")
    pushed.folders.metadata.unlink()
    assert pushed.rollback().exception is None
    assert pushed.served() == "a"
    assert not pushed.folders.metadata.exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--to", "7"], "--to 7: no such version"),
        (["--to", "1", "--list"], "--list: goes without --to"),
        (["--serving", "x"], "pass either PIPELINE or --serving"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, arguments: list[str], text: str
) -> None:
    pushed = Pushed(tmp_path, "ab")
    error = pushed.rollback(*arguments).exception
    assert isinstance(error, UsageError)
    assert text in str(error)
    assert pushed.served() == "b"


def test_a_roll_back_waits_for_no_run_and_needs_no_database(tmp_path: Path) -> None:
    from pipeline.run_lock import run_lock

    pushed = Pushed(tmp_path, "ab")
    pushed.folders.metadata.write_bytes(b"no database" * 100)
    with run_lock(pushed.folders.base):
        assert pushed.rollback().exception is None
    assert pushed.served() == "a"


@pytest.mark.parametrize("name", ["..", "a/b", "", "Ads"])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    from pipeline.cli.rollback import rollback

    done = CliRunner().invoke(
        rollback, [name, "--root", str(tmp_path)], standalone_mode=False
    )
    assert isinstance(done.exception, UsageError)
    assert "must be the name of a pipeline" in str(done.exception)

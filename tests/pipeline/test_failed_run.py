"""A run that failed: where its summary is, and how to look at it."""

import json
from pathlib import Path

import pytest

from data.errors import RunError
from pipeline.config import load
from pipeline.usage import Usage

pytestmark = pytest.mark.engine

RUN = "2026-01-02T03:04:05"


class Notes:
    """An observer that keeps the notes."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def started(self, component: str) -> None:
        """Does nothing."""

    def ended(self, component: str, usage: Usage, failed: bool) -> None:
        """Does nothing."""

    def note(self, text: str) -> None:
        """Keeps it."""
        self.texts.append(text)


class FailingRunner:
    """A runner whose first component fails."""

    def __init__(self, observer: object) -> None:
        self.run_id = RUN

    def run(self, pipeline: object) -> None:
        raise RunError("Trainer failed: [x]")


def test_a_failed_run_names_its_summary_and_the_command_that_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline import local_runner, summary
    from pipeline import run as run_module

    monkeypatch.setattr(local_runner, "MeasuredDagRunner", FailingRunner)
    monkeypatch.setattr(summary, "summarize", lambda *_: {"run": RUN})
    for name in ("register", "batch_by_size", "create_pipeline", "History"):
        monkeypatch.setattr(run_module, name, lambda *_: None)
    notes = Notes()
    with pytest.raises(RunError, match="Trainer failed"):
        run_module.run(load(preset="demo"), str(tmp_path), tmp_path, notes)
    file = tmp_path.resolve() / "demo" / "reports" / f"{RUN}.json"
    assert json.loads(file.read_text())["error"] == "Trainer failed: [x]"
    assert notes.texts == [
        f"summary: {file}; `ctr report --run {RUN} --root {tmp_path}` makes a page of it"
    ]

"""Fixtures that tests of every package share."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.preset_files import PRESETS

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Folder with public data sets; the test is skipped where there is none.

    The environment variable ``CTR_TEST_DATA`` names it; otherwise a folder ``shared``
    beside the checkout counts.
    """
    folder = Path(os.environ.get("CTR_TEST_DATA") or ROOT.parent / "shared")
    if not (folder / "data").is_dir():
        pytest.skip(f"no public data sets: set CTR_TEST_DATA (looked into {folder})")
    return folder


@pytest.fixture(scope="session")
def run_ctr() -> Callable[..., dict[str, Any]]:
    """Runs ``ctr ... --json`` as a user does."""

    def run(*arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "pipeline.cli.main", *arguments, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    return run


def small_demo(folder: Path) -> Path:
    """The demo preset on a log that takes seconds."""
    content = yaml.safe_load((PRESETS / "demo.yaml").read_text())
    content["name"] = "small"
    content["simulate"] = {"rows": 12_000, "users": 600, "days": 4}
    content["train"] = {"epochs": 1, "batch_size": 256}
    content["evaluate"] = {
        "slices": [["device"], ["position", "device"]],
        # Wide: this run is about the machinery, not about the model.
        "gates": {"overall": {"gauc": {"min": 0.2}, "pcop": {"min": 0.3, "max": 3.0}}},
    }
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="session")
def runs(
    tmp_path_factory: pytest.TempPathFactory, run_ctr: Callable[..., dict[str, Any]]
) -> list[dict[str, Any]]:
    """Summaries of a first and a second small run of the whole DAG in one root."""
    folder = tmp_path_factory.mktemp("runs")
    command = ("run", "--config", str(small_demo(folder)), "--root", str(folder))
    return [run_ctr(*command), run_ctr(*command)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests marked ``gpu`` on a machine without an NVIDIA driver."""
    if Path("/proc/driver/nvidia/version").exists():
        return
    skip = pytest.mark.skip(reason="needs an NVIDIA GPU; no driver found")
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(skip)

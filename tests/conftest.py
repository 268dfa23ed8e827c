"""Fixtures that tests of every package share."""

import os
from pathlib import Path

import pytest

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests marked ``gpu`` on a machine without an NVIDIA driver."""
    if Path("/proc/driver/nvidia/version").exists():
        return
    skip = pytest.mark.skip(reason="needs an NVIDIA GPU; no driver found")
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(skip)

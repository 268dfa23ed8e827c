"""Lock files pin everything, name no address, and satisfy the package definition."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

LOCKS = Path(__file__).resolve().parent.parent / "locks"
STACKS = {
    "older-py310": "3.10",
    "newer-py311": "3.11",
    "newer-py312": "3.12",
    "newer-py313": "3.13",
}
PIN = re.compile(r"(?P<name>[a-z0-9._-]+)==(?P<version>[0-9][0-9a-z.+]*)")


def pins(name: str) -> dict[str, str]:
    lines = (LOCKS / f"{name}.txt").read_text().splitlines()
    found = [PIN.fullmatch(line) for line in lines]
    return {match["name"]: match["version"] for match in found if match}


@pytest.mark.parametrize("path", sorted(LOCKS.iterdir()), ids=lambda path: path.name)
def test_no_lock_names_an_address(path):
    text = path.read_text()
    for word in ("://", "--index", "--extra-index", "--find-links", "--trusted", "@ "):
        assert word not in text


@pytest.mark.parametrize(
    "path", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.name
)
def test_every_requirement_is_pinned(path):
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    requirements = [line for line in lines if not line.strip().startswith("#")]
    if path.stem.endswith("-gpu"):
        assert requirements.pop(0) == f"-r {path.stem.removesuffix('-gpu')}.txt"
    assert requirements
    assert [line for line in requirements if not PIN.fullmatch(line)] == []


@pytest.mark.parametrize("name", STACKS)
def test_a_gpu_lock_adds_and_changes_nothing(name):
    added = pins(f"{name}-gpu")
    assert all(package.startswith("nvidia-") for package in added)
    assert not set(added) & set(pins(name))


@pytest.mark.parametrize(("name", "python"), STACKS.items())
def test_a_lock_satisfies_the_package_definition(name, python):
    pinned = pins(name)
    wanted = [Requirement(line) for line in metadata.requires("tfx-ctr") or []]
    wanted = [
        requirement
        for requirement in wanted
        if not requirement.marker
        or requirement.marker.evaluate({"python_version": python})
    ]
    assert {requirement.name for requirement in wanted} <= set(pinned)
    for requirement in wanted:
        assert requirement.specifier.contains(pinned[requirement.name])


@pytest.mark.parametrize("tool", ["mypy", "ruff", "pytest", "import-linter"])
def test_every_stack_is_judged_by_the_same_tool(tool):
    assert len({pins(name)[tool] for name in STACKS}) == 1

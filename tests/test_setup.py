"""Set-up finds what works, picks the stack, and says in one line what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
VERSION = "{}.{}".format(*sys.version_info[:2])
REAL_PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def call(code, root=ROOT, **environment):
    """Runs bash code with the functions of the set-up script at hand."""
    steering = ("STACK", "PYTHON", "CTR_ACCELERATOR", "UV", "CXX")
    variables = {key: os.environ[key] for key in os.environ if key not in steering}
    return subprocess.run(
        ["/bin/bash", "-c", f"source {root}/scripts/setup; {code}"],
        env=variables | {key: str(value) for key, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
    )


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return path


def folder_with(tmp_path, *tools):
    """A folder for PATH that holds nothing but these tools of the machine."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for tool in tools:
        (folder / tool).symlink_to(shutil.which(tool))
    return folder


def test_a_shim_that_fails_is_passed_over(tmp_path):
    shim = script(tmp_path / f"shims/python{VERSION}", "echo not found >&2; exit 127")
    real = script(
        tmp_path / f"root/versions/{VERSION}.9/bin/python{VERSION}",
        f'exec {REAL_PYTHON} "$@"',
    )
    path = f"{shim.parent}:/usr/bin:/bin"

    candidates = call("candidate_pythons", PATH=path, PYENV_ROOT=tmp_path / "root")
    working = call("working_pythons", PATH=path, PYENV_ROOT=tmp_path / "root")

    assert {str(shim), str(real)} <= set(candidates.stdout.splitlines())
    rows = [line.split("\t")[:2] for line in working.stdout.splitlines()]
    assert [VERSION, REAL_PYTHON] in rows
    assert str(shim.parent) not in working.stdout
    assert working.stderr == ""


def test_a_virtual_environment_is_looked_through():
    probe = call(f"probe_python {sys.executable}").stdout.split("\t")
    assert probe[:2] == [VERSION, REAL_PYTHON]


@pytest.mark.parametrize(
    ("glibc", "stacks"),
    [
        ("2.41", "newer older"),
        ("2.39", "newer older"),
        ("2.38", "older"),
        ("2.17", "older"),
        # As text 2.4 would come after 2.39.
        ("2.4", ""),
        ("0", ""),
    ],
)
def test_glibc_decides_which_stacks_can_run(glibc, stacks):
    assert call(f"stacks_for_glibc {glibc}").stdout.strip() == stacks


@pytest.mark.parametrize(
    ("stacks", "pythons", "best"),
    [
        ("newer older", ["3.10 a 1", "3.13 b 1", "3.12 c 1"], "newer b"),
        ("older", ["3.13 b 1", "3.11 c 1", "3.10 a 1"], "older a"),
        # Headers are needed for the one dependency that is built here.
        ("newer older", ["3.13 b 0", "3.12 c 1"], "newer c"),
        # The stack comes before the headers: set-up says how to get those.
        ("newer older", ["3.13 b 0", "3.10 a 1"], "newer b"),
        # Of equals the one found first, which is the one first on PATH.
        ("older", ["3.10 a 1", "3.10 z 1"], "older a"),
        ("older", ["3.9 a 1", "3.13 b 1", "3.14 c 1"], ""),
    ],
)
def test_best_python(stacks, pythons, best):
    rows = [row.split() for row in pythons]
    lines = "".join(
        f"{v}\\t{path}\\t/include\\t{headers}\\n" for v, path, headers in rows
    )
    result = call(f"printf '{lines}' | rank_pythons '{stacks}'")
    first = result.stdout.split("\n")[0].split("\t")
    assert " ".join(first[0:1] + first[2:3]) == best
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("code", "environment", "words"),
    [
        ("wanted_stacks 2.36", {"STACK": "newer"}, ["glibc >= 2.39", "2.36"]),
        ("wanted_stacks 2.41", {"STACK": "new"}, ["older or newer", "'new'"]),
        ("accelerator", {"CTR_ACCELERATOR": "tpu"}, ["cpu or gpu", "'tpu'"]),
        ("asked_python older 2.36", {"PYTHON": "/no/python"}, ["/no/python"]),
        ("check_machine Darwin arm64 0", {}, ["Linux on x86-64", "Darwin on arm64"]),
        ("check_machine Linux x86_64 0", {}, ["glibc >= 2.17"]),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(code, environment, words):
    result = call(code, **environment)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert all(word in result.stderr for word in words)


def test_a_python_of_the_other_stack_is_refused():
    other = "older" if VERSION != "3.10" else "newer"
    result = call(f"asked_python {other} 2.36", PYTHON=sys.executable)
    assert result.returncode == 1
    assert f"is Python {VERSION}" in result.stderr


def test_missing_compiler_and_headers_are_one_line(tmp_path):
    tools = folder_with(tmp_path, "dirname", "readlink")
    result = call(f"check_build_tools 3.13 /opt/python {tmp_path}", PATH=tools)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert "a C++ compiler and the headers of Python 3.13 missing" in line
    assert line.endswith("apt-get install g++ python3-dev")


def test_missing_headers_alone(tmp_path):
    tools = folder_with(tmp_path, "dirname", "readlink")
    script(tools / "g++", "exit 0")
    result = call(f"check_build_tools 3.13 /opt/python {tmp_path}", PATH=tools)
    assert "set-up: the headers of Python 3.13 missing" in result.stderr

    (tmp_path / "Python.h").touch()
    result = call(f"check_build_tools 3.13 /opt/python {tmp_path}", PATH=tools)
    assert (result.returncode, result.stderr) == (0, "")


def test_no_python_and_no_download_ends_in_one_line_with_a_remedy(tmp_path):
    uv = script(tmp_path / "uv", "echo no route to host; exit 2")
    code = f"venv={tmp_path} log={tmp_path}/log uv={uv}; download_python older 2.36 3.9"
    result = call(code)
    assert result.returncode == 1
    assert "no route to host" in result.stderr
    last = result.stderr.splitlines()[-1]
    assert "needs Python 3.10, found 3.9" in last
    assert "pyenv install 3.10" in last


def test_no_way_to_get_the_installer_is_one_line(tmp_path):
    # A Debian without python3-venv: Python runs and has neither pip nor ensurepip.
    python = script(tmp_path / "python3", "exit 1")
    tools = folder_with(tmp_path, "dirname")
    result = call(f"venv={tmp_path}; find_uv {python}", PATH=tools)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert "apt-get install python3-venv" in line


@pytest.fixture
def finished(tmp_path):
    """A copy of the project whose environment looks complete."""
    for name in ("scripts", "locks"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    digest = call("files_hash", tmp_path).stdout.strip()
    (tmp_path / ".venv/setup.stamp").write_text(
        f"root={tmp_path}\nfiles={digest}\nstack=older\npython={REAL_PYTHON}\n"
        "accelerator=cpu\n"
    )
    return tmp_path


def test_second_call_does_nothing(finished):
    result = call("main", finished)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("environment", "current"),
    [
        ({}, True),
        ({"STACK": "older", "CTR_ACCELERATOR": "cpu", "PYTHON": REAL_PYTHON}, True),
        ({"STACK": "newer"}, False),
        ({"CTR_ACCELERATOR": "gpu"}, False),
        ({"PYTHON": "/no/python"}, False),
    ],
)
def test_another_wish_is_no_second_call(finished, environment, current):
    result = call("up_to_date && echo current", finished, **environment)
    assert (result.stdout == "current\n") is current


@pytest.mark.parametrize("name", ["locks/older-py310.txt", "setup.py"])
def test_a_changed_pin_or_package_is_installed_anew(finished, name):
    with (finished / name).open("a") as file:
        file.write("# changed\n")
    assert call("up_to_date && echo current", finished).stdout == ""


def test_a_moved_or_broken_environment_is_made_anew(finished):
    moved = finished.parent / "moved"
    finished.rename(moved)
    assert call("up_to_date && echo current", moved).stdout == ""

    moved.rename(finished)
    python = finished / ".venv/bin/python"
    python.unlink()
    python.symlink_to("/no/python")
    assert call("up_to_date && echo current", finished).stdout == ""

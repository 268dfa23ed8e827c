"""The check of imports that ends the image's build."""

import importlib.util
import sys

import pytest

from tests.dockerfile import ROOT

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def check():
    """The module of the script."""
    path = ROOT / "scripts/image_check.py"
    spec = importlib.util.spec_from_file_location("image_check", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_check_says_what_cannot_be_imported(check, tmp_path, monkeypatch):
    (tmp_path / "lacking.py").write_text("import not_installed\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert check.import_fault("data.errors") is None
    assert check.import_fault("data.errors.CtrError") is None
    for name, word in [
        ("data.errors.Absent", "no attribute 'Absent'"),
        ("data.absent.Class", "No module named 'data.absent'"),
        ("lacking", "No module named 'not_installed'"),
    ]:
        fault = check.import_fault(name)
        assert fault.startswith(f"{name}: cannot be imported: ")
        assert word in fault


def test_the_check_says_which_command_fails(check):
    assert check.command_fault((sys.executable, "-m", "json.tool")) is None
    assert (
        check.command_fault(("no-such-ctr",)) == "no-such-ctr: no no-such-ctr on PATH"
    )
    fault = check.command_fault((sys.executable, "-m", "no_such_module"))
    assert "-m no_such_module --help: exit code 1: " in fault

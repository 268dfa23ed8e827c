"""The import rules between the packages hold, and the check sees a breach."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("data", "models", "components", "pipeline")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )


def test_layers_hold():
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("data/breach.py", "import models"),
        ("models/breach.py", "import components"),
        ("components/breach.py", "import pipeline"),
        ("data/breach.py", "import apache_beam"),
        ("models/breach.py", "import tfx"),
    ],
)
def test_a_breach_is_found(tmp_path, module, line):
    # Bare packages: the breach is then the only import, so only it can be at fault.
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / module).write_text(f"{line}\n")

    result = lint_imports(tmp_path)

    assert result.returncode == 1
    assert "breach ->" in result.stdout
    assert "Contracts: 1 kept, 1 broken." in result.stdout

"""The command line as a whole: cheap to start, one line an error, stable surface."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from pipeline.cli.main import COMMANDS, cli

HEAVY = ("tensorflow", "tfx", "apache_beam", "keras", "pandas", "pyarrow", "numpy")


def test_help_lists_every_command_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from pipeline.cli.main import cli\n"
        "try:\n"
        "    cli(['--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    *help_text, imported = done.stdout.strip().splitlines()
    assert imported == "[]"
    for name in COMMANDS:
        assert any(line.strip().startswith(name) for line in help_text)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_help_of_each_command_needs_no_tensorflow(name: str) -> None:
    code = (
        "import sys\n"
        "from pipeline.cli.main import cli\n"
        "try:\n"
        f"    cli([{name!r}, '--help'])\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code, stop.code\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_options_of_run_are_these() -> None:
    # The surface people script against; a new option is a decision, not an accident.
    command = cli.get_command(None, "run")  # type: ignore[arg-type]
    assert command is not None
    options = {name for param in command.params for name in param.opts}
    assert options == {
        "--config",
        "--preset",
        "--input",
        "--root",
        "--wait",
        "--without-baseline",
        "--json",
        "-v",
        "--verbose",
    }


def run_ctr(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pipeline.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_unknown_command_names_the_nearest_and_exits_with_2() -> None:
    done = run_ctr("evalute")
    assert done.returncode == 2
    assert "unknown command 'evalute'" in done.stderr
    assert "Did you mean 'evaluate'?" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("run", "--presett", "demo"), "--presett"),
        (("simulate", "--output", "x", "--days", "many"), "'many'"),
        (("simulate",), "--output"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(
    arguments: tuple[str, ...], text: str
) -> None:
    done = run_ctr(*arguments)
    assert done.returncode == 2
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert text in lines[0]
    assert "--help" in lines[0]


def test_faulty_configuration_is_one_line_and_exits_with_2(tmp_path: object) -> None:
    done = run_ctr("run", "--config", f"{tmp_path}/none.yaml")
    assert done.returncode == 2
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert "no such configuration file" in lines[0]


def test_schema_is_json() -> None:
    result = CliRunner().invoke(cli, ["schema"])
    assert result.exit_code == 0
    assert json.loads(result.output)["title"] == "PipelineConfig"


def test_doctor_reports_the_stack_as_json() -> None:
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    found = json.loads(result.output)
    assert found["stack"] in {"older", "newer"}
    assert found["packages"]["tfx"] is not None
    assert result.exit_code == (1 if found["missing"] else 0)


def test_what_a_file_holds_neither_breaks_nor_steers_the_terminal(tmp_path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text('name: t\n"k\\x1b[31m\\n": 1\ntrain: 5\n')
    done = run_ctr("run", "--config", str(path))
    assert done.returncode == 2
    assert f"{path}: train: must be a mapping, got 5" in done.stderr
    assert "unknown key 'k\\x1b[31m\\n'" in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())

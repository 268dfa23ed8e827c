"""The command line as a whole: cheap to start, one line an error, stable surface."""

import json
import os
import signal
import subprocess
import sys
import types
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from data.errors import RunError
from pipeline.cli.main import COMMANDS, cli
from pipeline.cli.options import PathType
from pipeline.preset_files import PRESETS

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


@pytest.mark.parametrize("arguments", [(), ("runs",)])
def test_a_group_that_is_called_alone_prints_its_help_as_it_is(
    arguments: tuple[str, ...],
) -> None:
    alone, asked = run_ctr(*arguments), run_ctr(*arguments, "--help")
    assert alone.returncode == 2
    # As click has it: no command is wrong usage, so the help goes to stderr.
    assert (alone.stdout, alone.stderr) == ("", asked.stdout)


@pytest.mark.parametrize("has_gates", [True, False])
def test_a_run_that_cannot_be_blessed_says_so_before_it_starts(
    has_gates: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise RunError("the run began")

    # The module itself would import TFX.
    monkeypatch.setitem(sys.modules, "pipeline.run", types.SimpleNamespace(run=run))
    content = yaml.safe_load((PRESETS / "demo.yaml").read_text())
    if not has_gates:
        del content["evaluate"]["gates"]
    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump(content))
    # Verbose, for else it would turn logging off for the tests after it, too.
    done = CliRunner().invoke(cli, ["run", "-v", "--config", str(path)])
    assert str(done.exception) == "the run began"
    assert ("no gates in evaluate.gates" in done.output) is not has_gates


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


def all_parameters() -> list[tuple[str, click.Parameter]]:
    """Every option and argument, with the command it belongs to."""
    found = []
    waiting: list[tuple[str, click.Command]] = [("ctr", cli)]
    while waiting:
        name, command = waiting.pop()
        found += [(name, one) for one in command.params]
        if isinstance(command, click.Group):
            context = click.Context(command)
            for one in command.list_commands(context):
                child = command.get_command(context, one)
                assert child is not None
                waiting.append((f"{name} {one}", child))
    return found


def test_every_path_of_every_command_refuses_to_be_empty() -> None:
    paths = {
        "--card", "--check", "--config", "--examples", "--gates", "--input", "--job",
        "--model", "--output", "--pipeline-root", "--predictions", "--root",
        "--serving", "locations",
    }  # fmt: skip
    for command, one in all_parameters():
        is_path = not paths.isdisjoint(one.opts) or isinstance(one.type, click.Path)
        assert isinstance(one.type, PathType) == is_path, (command, one.opts)


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", ""),
        ("rollback", "--serving", ""),
        ("run", "--preset", "demo", "--input", ""),
        ("runs", "list", "--root", ""),
    ],
)
def test_an_empty_path_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    done = run_ctr(*arguments)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "is empty; pass a path" in line


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of the shell in which ``ctr`` is the command line."""
    ctr = f'ctr() {{ "{sys.executable}" -m pipeline.cli.main "$@"; }}; '
    return subprocess.run(
        ["bash", "-c", ctr + command],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("unbuffered", "expected"), [("1", "True"), ("", "False")])
def test_a_log_of_a_pod_keeps_up(unbuffered: str, expected: str) -> None:
    code = (
        "import sys; from pipeline.cli.streams import prepare; prepare()\n"
        "print(sys.stdout.line_buffering)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{expected}\n"


@pytest.mark.parametrize("closed", [">&-", ">&- <&-", "2>&- >&-"])
def test_closed_streams_are_as_good_as_dev_null(closed: str, tmp_path: Path) -> None:
    sizes = "--rows 20 --users 2 --days 1 --json"
    done = in_shell(f"ctr simulate --output {tmp_path}/log {sizes} {closed}")
    assert done.returncode == 0, done.stderr
    (part,) = (tmp_path / "log").iterdir()
    # Nothing that was printed went into the file: a header and 20 rows.
    assert len(part.read_text().splitlines()) == 21


def test_a_closed_stderr_hides_no_exit_code(tmp_path: Path) -> None:
    assert in_shell(f"ctr runs list --root {tmp_path}/none 2>&-").returncode == 2


@pytest.mark.parametrize("arguments", ["schema", "--help", "doctor"])
def test_a_stdout_that_is_full_is_named_in_one_line(arguments: str) -> None:
    done = in_shell(f"ctr {arguments} >/dev/full")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: stdout: no space left on device")


def test_a_folder_that_was_removed_is_named(tmp_path: Path) -> None:
    # Python looks for modules in the folder one is in, unless it is told.
    here = os.getcwd()
    done = in_shell(
        f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone && "
        f"PYTHONPATH={here} ctr rollback demo"
    )
    assert done.returncode == 1
    assert done.stderr == "error: the current folder was removed; go to another (cd)\n"


def test_tensorflow_is_imported_without_a_word_and_its_errors_are_not_lost() -> None:
    code = (
        "import sys; from pipeline.cli.quiet import silence; silence(); silence()\n"
        "import tensorflow as tf\n"
        "print(tf.constant(1).numpy(), file=sys.stderr)\n"
        "import tensorflow.absent"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    first, *_, last = done.stderr.splitlines()
    assert first == "1"
    assert last == "ModuleNotFoundError: No module named 'tensorflow.absent'"


def test_a_terminal_of_no_columns_is_one_of_unknown_width(tmp_path: Path) -> None:
    sizes = "--rows 20 --users 2 --days 1"
    done = in_shell(f"COLUMNS=0 ctr simulate --output {tmp_path}/log {sizes}")
    assert done.returncode == 0, done.stderr
    assert "true GAUC, last day" in done.stdout


def test_sigterm_removes_what_a_command_was_writing(tmp_path: Path) -> None:
    from pipeline.cli import main

    parent, child = os.pipe()
    pid = os.fork()
    if pid == 0:
        # The bar of `ctr simulate` is told of each batch: the log is half written.
        from data.simulator import writing

        whole = writing.write_log

        def write_log(config, output, file_format, advance):  # type: ignore[no-untyped-def]
            def told(rows: int) -> None:
                os.write(child, b"x")
                signal.pause()

            return whole(config, output, file_format, told)

        writing.write_log = write_log
        sys.argv = ["ctr", "simulate", "--output", str(tmp_path / "log")]
        code = 99
        try:
            main.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            os._exit(code)
    assert os.read(parent, 1) == b"x"
    (scratch,) = tmp_path.iterdir()
    assert scratch.name.startswith(".log-")
    os.kill(pid, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
    os.close(parent)
    os.close(child)


def test_sigterm_is_handled_as_before_after_a_command() -> None:
    before = signal.getsignal(signal.SIGTERM)
    CliRunner().invoke(cli, ["schema"])
    assert signal.getsignal(signal.SIGTERM) is before

"""Summaries on disk: a damaged one is named and hides no other."""

import copy
import io
import json
import os

import pytest
from click.testing import CliRunner
from rich.console import Console

from data.errors import UsageError
from pipeline.cli.history_tables import runs_table
from pipeline.cli.main import cli
from pipeline.cli.options import root_option
from pipeline.cli.run import show
from pipeline.root_folder import DEFAULT_ROOT, root_flag
from pipeline.run_files import read_summaries
from pipeline.run_lock import run_lock
from pipeline.summary_schema import Shown, fault_of

GAUC = {"value": 0.7, "ci95": [0.6, 0.8], "reason": None, "effective_users": 9.0}
ECE = {"value": 0.1, "ci95": None, "reason": None, "excess": 0.05}
SUMMARY = {
    "run": "2026-01-01",
    "pipeline": "demo",
    "config": {"evaluate": {"baseline": True}},
    "components": [
        {
            "component": "Trainer",
            "state": "complete",
            "rows": None,
            "wall_seconds": 1.5,
            "cpu_seconds": 1,
            "peak_bytes": 2**20,
        }
    ],
    "data": {
        "rows_read": 10,
        "rows_quarantined": 0,
        "splits": {"eval": {"rows": 10, "clicks": 1}},
    },
    "data_checks": {
        "reason": "1 warned",
        "findings": [
            {
                "check": "skew",
                "subject": "price",
                "place": "eval",
                "level": "warn",
                "status": "warn",
                "found": 0.2,
                "limit": 0.1,
            }
        ],
    },
    "slices": [
        {
            "slice": {},
            "rows": 10,
            "users": 4,
            "users_scored": 2,
            "rows_scored": 5,
            "rows_without_user": 0,
            "metrics": {"gauc": GAUC, "ece": ECE | {"expected_if_calibrated": 0.05}},
        }
    ],
    "baseline": None,
    "verdict": {
        "blessed": False,
        "reason": "not blessed",
        "checks": [
            {
                "status": "fail",
                "metric": "gauc",
                "slice": {},
                "rows": 10,
                "clicks": 1,
                "kind": "min",
                "bound": 0.9,
                "reason": "0.7 is below 0.9",
            }
        ],
    },
    "pushed": None,
    "evaluation": None,
    "file": "2026-01-01.json",
    "error": None,
}
ODD = [
    ({"run": 5}, "run: must be a valid string, got 5"),
    ({"pipeline": "../x"}, "pipeline: must match"),
    ({"data": 5}, "data: must be a valid dictionary, got 5"),
    ({"slices": [{}]}, "slices[0].slice: required, but absent"),
    ({"slices": [5]}, "slices[0]: must be a mapping, got 5"),
    ({"verdict": {"a": 1}}, "verdict.blessed: required, but absent"),
    ({"verdict": {"blessed": "yes"}}, "verdict.blessed: must be a valid boolean"),
]


@pytest.fixture
def reports(tmp_path):
    """The folder of two runs."""
    folder = tmp_path / "demo" / "reports"
    folder.mkdir(parents=True)
    for run in ("2026-01-01", "2026-01-02"):
        (folder / f"{run}.json").write_text(json.dumps(SUMMARY | {"run": run}))
    return folder


def call(reports, *command):
    root = str(reports.parent.parent)
    return CliRunner().invoke(cli, ["runs", *command, "--root", root])


def check_others_are_listed(reports, capsys, message):
    """A bad file ``odd.json`` is named by every command, and stops only its own run."""
    root = str(reports.parent.parent)
    cli(["runs", "list", "--json", "--root", root], standalone_mode=False)
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert [run["run"] for run in told["runs"]] == ["2026-01-01", "2026-01-02"]
    (fault,) = told["unreadable"]
    assert fault.startswith(f"{reports}/odd.json: {message}")
    assert "_" not in fault.removeprefix(f"{reports}/odd.json")
    assert printed.err == f"warning: {fault}\n"
    assert call(reports, "list").exit_code == 0
    assert call(reports, "diff", "2026-01-01", "latest").exit_code == 0
    shown = call(reports, "show", "odd")
    assert isinstance(shown.exception, UsageError)
    assert str(shown.exception) == fault


@pytest.mark.parametrize(("changes", "reason"), ODD)
def test_a_summary_with_a_wrong_value_hides_no_other(reports, capsys, changes, reason):
    (reports / "odd.json").write_text(json.dumps(SUMMARY | changes))
    check_others_are_listed(reports, capsys, f"not the summary of a run: {reason}")


@pytest.mark.parametrize("key", ["pushed", "error", "slices"])
def test_a_summary_without_a_key_hides_no_other(reports, capsys, key):
    content = {name: value for name, value in SUMMARY.items() if name != key}
    (reports / "odd.json").write_text(json.dumps(content))
    message = f"not the summary of a run: {key}: required, but absent; move"
    check_others_are_listed(reports, capsys, message)


@pytest.mark.parametrize(
    "content", [b"[]", b"5", b'{"run": "a', b"[" * 100_000, b"\xff\xfe{"]
)
def test_a_file_that_is_no_summary_at_all_hides_no_other(reports, capsys, content):
    (reports / "odd.json").write_bytes(content)
    check_others_are_listed(reports, capsys, "not the summary of a run")


def test_a_pipe_and_a_folder_hide_no_run(reports, capsys):
    (reports / "odd.json").mkdir()
    check_others_are_listed(reports, capsys, "cannot be read: Is a directory")
    (reports / "odd.json").rmdir()
    os.mkfifo(reports / "odd.json")
    check_others_are_listed(reports, capsys, "must be a regular file, is a named pipe")


def leaves(value, place=()):
    """Places of all values below the top of a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, below in pairs:
        yield (*place, key)
        if isinstance(below, dict | list):
            yield from leaves(below, (*place, key))


def changed(place, change):
    """The summary with a change at a place."""
    content = copy.deepcopy(SUMMARY)
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    change(inner, place[-1])
    return content


def absent(inner, key):
    del inner[key]


def odd(inner, key):
    inner[key] = {"[red]\x1b": [[]]}


def null(inner, key):
    inner[key] = None


@pytest.mark.parametrize("change", [absent, odd, null])
def test_a_summary_is_refused_or_it_can_be_shown(change):
    assert fault_of(Shown, SUMMARY) is None
    for place in leaves(SUMMARY):
        content = changed(place, change)
        if fault_of(Shown, content) is None:
            show(content, Console(file=io.StringIO()))


def test_an_edited_summary_is_shown_only_as_json(reports):
    content = changed(("verdict", "checks", 0, "bound"), absent)
    (reports / "2026-01-02.json").write_text(
        json.dumps(content | {"run": "2026-01-02"})
    )
    shown = call(reports, "show", "latest")
    assert isinstance(shown.exception, UsageError)
    assert str(shown.exception) == (
        "run '2026-01-02': its summary is of another version, or was edited: "
        "verdict.checks[0].bound: required, but absent; --json shows it as it is"
    )


def test_names_of_runs_are_no_markup_and_no_commands(reports):
    run = "[red]x\x1b[31m"
    (reports / f"{run}.json").write_text(json.dumps(SUMMARY | {"run": run}))
    output = io.StringIO()
    console = Console(file=output, width=140)
    console.print(runs_table(read_summaries(reports.parent.parent).runs, []))
    assert "[red]x\\x1b[31m" in output.getvalue()


def test_a_run_has_the_name_of_its_file(reports):
    (reports / "z.json").write_text(json.dumps(SUMMARY | {"run": "../../elsewhere"}))
    summaries = read_summaries(reports.parent.parent)
    assert [one["run"] for one in summaries.runs] == ["2026-01-01", "2026-01-02"]
    (fault,) = summaries.faults.values()
    assert "holds the run '../../elsewhere', which is not its name" in fault


def shown(**changes):
    """What ``show`` prints of the summary with changes."""
    output = io.StringIO()
    show(SUMMARY | changes, Console(file=output, width=140))
    return output.getvalue()


def test_a_failed_run_is_shown_with_its_error_and_without_what_it_did_not_reach():
    unreached = dict.fromkeys(("data", "data_checks", "slices", "verdict"))
    text = shown(**unreached, error="DataChecks failed: drift of [b]\nand of c")
    assert "error: DataChecks failed: drift of [b]\nand of c\n" in text
    assert "summary: 2026-01-01.json" in text
    for name in ("baseline", "verdict", "pushed", "evaluation"):
        assert f"{name}:" not in text


def test_a_run_that_failed_after_the_evaluation_is_shown_with_its_baseline():
    text = shown(verdict=None, error="ModelGate failed", evaluation="folder")
    assert "baseline: none yet (first run)" in text
    assert "evaluation: folder" in text
    assert "pushed:" not in text


def test_a_run_that_completed_says_that_nothing_was_pushed():
    text = shown()
    assert "error:" not in text
    assert "pushed: none" in text


def test_a_run_at_work_is_listed_while_it_holds_its_folder(reports, capsys):
    root = reports.parent.parent
    command = ["runs", "list", "--root", str(root)]
    with run_lock(root / "ads"):
        assert "running" in CliRunner().invoke(cli, command).output
        cli([*command, "--json"], standalone_mode=False)
        assert json.loads(capsys.readouterr().out)["running"] == ["ads"]
        cli([*command, "--json", "--pipeline", "demo"], standalone_mode=False)
        assert json.loads(capsys.readouterr().out)["running"] == []
    # As after a kill: the file stays, and nobody holds it.
    assert (root / "ads" / ".lock").exists()
    assert "running" not in CliRunner().invoke(cli, command).output


def test_the_first_run_of_a_root_is_listed_while_it_works(tmp_path):
    command = ["runs", "list", "--root", str(tmp_path)]
    with run_lock(tmp_path / "ads"):
        assert "running" in CliRunner().invoke(cli, command).output
    remedy = f"`ctr run --preset demo --root {tmp_path}` makes one"
    assert remedy in CliRunner().invoke(cli, command).output


def test_a_run_is_looked_for_in_one_pipeline(reports):
    content = SUMMARY | {"run": "2026-01-03", "pipeline": "ads"}
    folder = reports.parent.parent / "ads" / "reports"
    folder.mkdir(parents=True)
    (folder / "2026-01-03.json").write_text(json.dumps(content))
    summaries = read_summaries(reports.parent.parent)
    assert summaries.find("latest")["run"] == "2026-01-03"
    assert summaries.find("latest", "demo")["run"] == "2026-01-02"
    assert summaries.find("2026-01-0", "ads")["run"] == "2026-01-03"
    failed = call(reports, "show", "latest", "--pipeline", "none")
    assert isinstance(failed.exception, UsageError)
    assert "no run 'latest' of pipeline 'none' under" in str(failed.exception)


def test_hints_repeat_a_root_that_is_not_the_default(tmp_path):
    folder = tmp_path / "my runs"
    folder.mkdir()
    with pytest.raises(UsageError) as raised:
        read_summaries(folder).find("latest")
    assert str(raised.value) == (
        f"no run 'latest' under {folder}. `ctr runs list --root '{folder}'` shows them"
    )
    assert root_flag(DEFAULT_ROOT) == ""
    option = root_option()(lambda: None).__click_params__[0]
    assert option.default == DEFAULT_ROOT

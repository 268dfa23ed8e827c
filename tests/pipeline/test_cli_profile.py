"""``ctr profile``: what it prints, which rows it takes, and one whole call."""

import copy
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from pipeline.cli.main import cli
from pipeline.preset_files import PRESETS

STAGES = ("read", "decompress", "frame", "unpack", "shuffle", "batch")
FOUND: dict[str, Any] = {
    "pipeline": "demo",
    "packed": "runs/demo/artifacts/PackExamples/packed/7",
    "rows": 4000,
    "sample_rows": 3000,
    "batch_size": 100,
    "cores": 2,
    "accelerator": None,
    # 1 us of processor time for each stage and 6 us for the step: 1/12 and a half.
    "stages": {name: {"wall_us": 0.5, "cpu_us": 1.0} for name in STAGES},
    "reading": {"wall_us": 3.0, "cpu_us": 6.0},
    "copy": None,
    "step": {"wall_us": 4.0, "cpu_us": 6.0},
    "loop": {
        "cost": {"wall_us": 5.0, "cpu_us": 12.0},
        "steps": 300,
        "step_seconds": 0.0005,
        "wait_share": 0.25,
        "examples_per_second": 200_000.0,
    },
    "verdict": {"bound": "compute", "sentence": "compute-bound: so it is"},
    "tried": [{"setting": "train.batch_size"}, {"setting": "train.shuffle_rows"}],
    "advice": [{"line": "train.batch_size 100 -> 400: +38 % examples/s; [dear]"}],
    "recipe": {
        "rows": 2000,
        "recipe": {"wall_us": 9.0, "cpu_us": 18.0},
        "ours": {"wall_us": 3.0, "cpu_us": 6.0},
        "ratio": 3.0,
    },
}


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Calls the command on a profile that is made up; its arguments are on ``seen``."""

    def call(*arguments: str, found: dict[str, Any] = FOUND) -> Any:
        def run(config: Any, *places: Any, **options: Any) -> dict[str, Any]:
            options.pop("note")("packing [rows]")
            call.seen = (config.name, places[:2], options)  # type: ignore[attr-defined]
            return found

        # In place of a module that takes seconds to import.
        fake = types.SimpleNamespace(run=run)
        monkeypatch.setitem(sys.modules, "pipeline.profile", fake)
        # It would keep the logs of later tests, too, from being written.
        monkeypatch.setattr("pipeline.cli.quiet.silence", lambda: None)
        done = CliRunner().invoke(cli, ["profile", "--preset", "demo", *arguments])
        assert done.exception is None, done.exception
        return done

    return call


def test_costs_shares_and_verdict_are_shown(call: Callable[..., Any]) -> None:
    text = call("--root", "elsewhere", "--seconds", "0.5").stdout

    name, places, options = call.seen  # type: ignore[attr-defined]
    assert (name, places) == ("demo", (None, Path("elsewhere")))
    assert options == {"seconds": 0.5, "compare": False}
    lines = text.splitlines()
    rows = {
        name: next(line for line in lines if f" {name} " in line) for name in STAGES
    }
    for row in rows.values():
        assert "0.500" in row
        assert "1.000" in row
        assert "8%" in row
    step = next(line for line in lines if " step " in line and "│" in line)
    # Half of a bar of twenty.
    assert "█" * 10 + " " in step
    assert "50%" in step
    assert "none here" in text
    assert "rows: 3,000 of 4,000 in runs/demo/artifacts/PackExamples/packed/7" in lines
    assert "machine: 2 cores, accelerator: none" in lines
    assert (
        "loop: 300 steps of 100 rows, 0.50 ms each, waiting for input 25%, "
        "200,000 examples/s" in lines
    )
    assert "compute-bound: so it is" in lines
    assert (
        "published recipe on 2,000 rows: 18.00 us CPU an example, ours 6.00 us: "
        "3.0 times as much" in lines
    )
    # Brackets are text and no markup.
    assert lines[-1] == "train.batch_size 100 -> 400: +38 % examples/s; [dear]"


def test_without_advice_it_says_what_was_tried(call: Callable[..., Any]) -> None:
    found = copy.deepcopy(FOUND)
    found["advice"], found["recipe"] = [], None
    found["accelerator"], found["copy"] = "GPU:0", {"wall_us": 0.25, "cpu_us": 0.125}

    lines = call(found=found).stdout.splitlines()
    assert lines[-1] == (
        "no change helped by more than 3 %; tried train.batch_size, train.shuffle_rows"
    )
    assert "machine: 2 cores, accelerator: GPU:0" in lines
    assert any("copy to device" in line and "0.250" in line for line in lines)


def test_json_is_all_that_stands_on_stdout(call: Callable[..., Any]) -> None:
    done = call("--json", "--compare")

    assert json.loads(done.stdout) == FOUND
    assert call.seen[2]["compare"]  # type: ignore[attr-defined]
    # What is done meanwhile goes to stderr.
    assert "packing [rows]" in done.stderr


def test_bad_options_are_refused() -> None:
    done = CliRunner().invoke(cli, ["profile", "--preset", "demo", "--seconds", "0"])
    assert done.exit_code == 2
    done = CliRunner().invoke(cli, ["profile", "--preset", "dem"])
    assert "Did you mean 'demo'?" in str(done.exception)
    assert done.exception.exit_code == 2  # type: ignore[union-attr]


def small(folder: Path) -> Path:
    """A configuration whose log takes seconds."""
    content = yaml.safe_load((PRESETS / "demo.yaml").read_text())
    content["name"] = "tiny"
    content["simulate"] = {"rows": 6_000, "users": 300, "days": 3}
    content["train"] = {"batch_size": 256}
    content["evaluate"] = {}
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.engine
def test_the_pipeline_ends_with_the_packed_rows(tmp_path: Path) -> None:
    from tfx.dsl.compiler import compiler

    from pipeline.config import load
    from pipeline.pipeline import Locations, create_pipeline
    from pipeline.profile import _cut_after

    locations = Locations(input_base="in", pipeline_root="root", serving="serving")
    config = load(config=small(tmp_path))
    compiled = compiler.Compiler().compile(create_pipeline(config, locations, []))
    _cut_after(compiled, "PackExamples")

    left = [node.pipeline_node.node_info.id for node in compiled.nodes]
    # The checks of the rows are no input of Transform, and still come before it.
    assert sorted(left) == [
        "ClickLogExampleGen",
        "DataChecks",
        "DeclaredSchemaGen",
        "PackExamples",
        "StatisticsGen",
        "StoppingExampleValidator",
        "Transform",
    ]
    assert left[-1] == "PackExamples"


@pytest.mark.engine
def test_without_rows_and_input_it_is_one_line(tmp_path: Path) -> None:
    from data.errors import UsageError
    from pipeline.config import load
    from pipeline.observer import Silent
    from pipeline.profile import run

    config = load(config=small(tmp_path)).model_copy(update={"simulate": None})
    told: list[str] = []
    with pytest.raises(UsageError, match="tiny: no input; pass --input PATH"):
        run(
            config,
            None,
            tmp_path,
            Silent(),
            seconds=0.1,
            compare=False,
            note=told.append,
        )
    assert "packing them" in told[0]


@pytest.mark.e2e
def test_rows_are_packed_once_and_profiled_again(
    tmp_path: Path, run_ctr: Callable[..., dict[str, Any]]
) -> None:
    from pipeline.config import load
    from pipeline.local_runner import Folders
    from pipeline.profile import find_packed

    path = small(tmp_path)
    command = ("profile", "--config", str(path), "--root", str(tmp_path))
    first = run_ctr(*command, "--seconds", "0.1", "--compare")
    again = run_ctr(*command, "--seconds", "0.1")

    assert Path(first["packed"]).parent == (
        tmp_path / "tiny/artifacts/PackExamples/packed"
    )
    assert again["packed"] == first["packed"]
    assert not (tmp_path / "tiny/artifacts/Trainer").exists()
    manifest = json.loads(Path(first["packed"], "manifest.json").read_text())
    assert first["rows"] == manifest["splits"]["train"]["rows"]
    assert list(first["stages"]) == list(STAGES)
    assert first["verdict"]["sentence"].startswith(f"{first['verdict']['bound']}-bound")
    assert first["recipe"]["rows"] == first["rows"]
    assert again["recipe"] is None

    # Rows of another declaration, and rows that were removed, are of no use.
    config = load(config=path)
    folders = Folders((tmp_path / "tiny").resolve())
    data = config.data.model_copy(update={"features": config.data.features[:-1]})
    assert find_packed(config, folders) is not None
    assert find_packed(config.model_copy(update={"data": data}), folders) is None
    Path(first["packed"]).rename(tmp_path / "moved")
    assert find_packed(config, folders) is None

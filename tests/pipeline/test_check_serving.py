"""The serving check on the command line, in the pipeline, and in the summary of a run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pydantic
import pytest
from click.testing import CliRunner
from rich.console import Console

from components.serving_check.config import ServingCheckConfig
from data.records import frame_all
from pipeline.cli.check_serving import show
from pipeline.cli.main import cli
from tests.components.serving_check.conftest import ROWS, example, save


def run_ctr(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pipeline.cli.main", "check-serving", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def shards(tmp_path: Path) -> str:
    """An Examples artifact with rows to evaluate."""
    folder = tmp_path / "examples" / "Split-eval"
    folder.mkdir(parents=True)
    (folder / "data").write_bytes(frame_all([example(row) for row in ROWS]))
    (tmp_path / "examples" / "Split-train").mkdir()
    (tmp_path / "examples" / "Split-train" / "data").write_bytes(b"never read")
    return str(tmp_path / "examples")


@pytest.mark.slow
@pytest.mark.engine
def test_a_sound_model_passes_and_a_faulty_one_exits_with_1(
    tmp_path: Path, shards: str
) -> None:
    sound = save(tmp_path / "1")
    done = run_ctr("--model", sound, "--examples", shards, "--rows", "3", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["passed"]
    assert found["rows"] == 3
    faulty = save(tmp_path / "2", nan_for_unseen=True)
    done = run_ctr("--model", faulty, "--examples", f"{shards}/Split-eval/data")
    assert done.returncode == 1
    assert "named_tensors" in done.stdout
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: serving check failed: requests of named_tensors: ")
    assert "item, unseen: not finite" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "examples", "text"),
    [
        ("none", "shards", "--model {tmp}/none: no such folder"),
        ("shards", "shards", "--model {tmp}/shards: no SavedModel here"),
        ("model", "none", "--examples {tmp}/none: no such file or folder"),
        ("model", "empty", "--examples: no rows in the shards"),
        ("model", "text", "--examples: {tmp}/text: record 0 (from 0) at offset 0"),
    ],
)
def test_wrong_usage_is_one_line_and_exits_with_2(
    tmp_path: Path, model: str, examples: str, text: str
) -> None:
    for name in ("shards", "model", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "model" / "saved_model.pb").touch()
    (tmp_path / "text").write_text("user,item,click\n")
    done = run_ctr(
        "--model", f"{tmp_path}/{model}", "--examples", f"{tmp_path}/{examples}"
    )
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith(f"error: {text.format(tmp=tmp_path)}")


@pytest.mark.slow
@pytest.mark.engine
def test_rows_of_another_schema_are_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(frame_all([example({"z": [1.0]})] * 30))
    done = run_ctr(
        "--model", save(tmp_path / "1"), "--examples", f"{tmp_path}/rows", "--json"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: --examples: rows have none of the model's columns "
        "(history, item, price, slot)\n"
    )


def test_limits_are_checked_before_anything_is_loaded() -> None:
    arguments = ["check-serving", "--model", "m", "--examples", "e"]
    result = CliRunner().invoke(cli, [*arguments, "--max-p99-ms", "0"])
    assert str(result.exception) == "options: max_p99_ms: must be > 0, got 0.0"


def test_the_table_shows_each_check_and_escapes_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    check = {"check": "rows", "signature": "[bold]s", "status": "fail", "text": "[x]"}
    show({"checks": [check]}, Console(width=80))
    row = capsys.readouterr().out.splitlines()[-2]
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "rows",
        "[bold]s",
        "fail",
        "[x]",
    ]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"rows": 0}, "greater than or equal to 1"),
        ({"tolerance": -1}, "greater than or equal to 0"),
        ({"enabled": False, "infra_validator": {}}, "set enabled: true"),
        ({"infra_validator": {"tags": []}}, "at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    settings: dict[str, Any], text: str
) -> None:
    with pytest.raises(pydantic.ValidationError, match=text):
        ServingCheckConfig.model_validate(settings)


def built(settings: dict[str, Any]) -> dict[str, Any]:
    """The components of the demo by id, with these settings of the check."""
    from pipeline.config import load
    from pipeline.pipeline import Locations, create_pipeline

    config = load(preset="demo")
    check = ServingCheckConfig.model_validate(settings)
    config = config.model_copy(update={"serving_check": check})
    places = Locations(input_base="/log", pipeline_root="/root", serving="/serving")
    nodes = create_pipeline(config, places, []).components
    return {node.id: node for node in nodes}


def blessing_of(nodes: dict[str, Any]) -> str | None:
    """The component whose infrastructure blessing the Pusher waits for."""
    channel = nodes["AtomicPusher"].inputs.get("infra_blessing")
    return channel.producer_component_id if channel else None


@pytest.mark.engine
def test_the_pusher_waits_for_the_check_unless_it_is_off() -> None:
    nodes = built({})
    assert blessing_of(nodes) == "ServingCheck"
    assert list(nodes)[-3:] == ["ModelGate", "ServingCheck", "AtomicPusher"]
    nodes = built({"enabled": False})
    assert blessing_of(nodes) is None
    assert "ServingCheck" not in nodes


@pytest.mark.engine
def test_the_infra_validator_blesses_through_the_check() -> None:
    from google.protobuf import json_format
    from tfx.proto import infra_validator_pb2 as pb

    nodes = built({"infra_validator": {"tags": ["2.16.1", "latest"], "rows": 3}})
    assert blessing_of(nodes) == "ServingCheck"
    given = nodes["ServingCheck"].inputs["infra_blessing"]
    assert given.producer_component_id == "InfraValidator"
    properties = nodes["InfraValidator"].exec_properties
    serving = json_format.Parse(properties["serving_spec"], pb.ServingSpec())
    assert serving.WhichOneof("serving_platform") == "local_docker"
    assert list(serving.tensorflow_serving.tags) == ["2.16.1", "latest"]
    requests = json_format.Parse(properties["request_spec"], pb.RequestSpec())
    assert (requests.split_name, requests.num_examples) == ("eval", 3)


@pytest.mark.engine
@pytest.mark.parametrize("passed", [True, False])
def test_a_failed_check_overrules_the_verdict_of_a_run(
    passed: bool, tmp_path: Path
) -> None:
    from pipeline.config import load
    from pipeline.history import NodeRun
    from pipeline.summary import summarize

    verdict = {"blessed": True, "reason": "blessed: 1 of 1 checks", "checks": []}
    check = {"passed": passed, "reason": "serving check failed: x", "rows": 7}
    files = {
        "ModelGate": ("verdict.json", verdict),
        "ServingCheck": ("serving_check.json", check),
    }
    nodes = []
    for component, (name, content) in files.items():
        (tmp_path / component).mkdir()
        (tmp_path / component / name).write_text(json.dumps(content))
        outputs = {"blessing": [str(tmp_path / component)]}
        nodes.append(NodeRun(component, "complete", outputs=outputs))

    class History:
        def nodes(self, run_id: str) -> list[NodeRun]:
            return nodes

    history: Any = History()
    components: list[dict[str, Any]] = [{"component": "ServingCheck"}]
    summary = summarize(load(preset="demo"), "/log", "run", history, components)
    assert summary["serving_check"] == check
    assert components[0]["rows"] == 7
    assert summary["verdict"]["blessed"] is passed
    if not passed:
        assert summary["verdict"]["reason"] == (
            "not blessed: serving check failed: x; the gates: blessed: 1 of 1 checks"
        )

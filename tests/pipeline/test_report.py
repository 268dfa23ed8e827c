"""``ctr report``: what it gathers of a run, and what it never shows."""

import json
from pathlib import Path
from typing import Any

import ml_metadata as mlmd
import pytest
import yaml
from click.testing import CliRunner
from ml_metadata.proto import metadata_store_pb2
from tensorflow_metadata.proto.v0 import anomalies_pb2, statistics_pb2

from data.errors import UsageError
from data.settings import parse
from pipeline.cli.report import report
from pipeline.config import PipelineConfig, load
from pipeline.preset_files import preset_names
from pipeline.report_commands import reproduce
from pipeline.report_curves import MOST_POINTS, read_curves
from pipeline.report_data import as_yaml, id_columns, without_ids
from pipeline.report_statistics import (
    ANOMALIES_FILE,
    STATISTICS_FILE,
    read_anomalies,
    read_statistics,
)
from pipeline.run_files import find_summary

RUN = "2026-01-02T03:04:05.000006"
SUMMARY_KEYS = ("data", "training", "slices", "verdict", "baseline", "model", "pushed")


def summary_of(run: str = RUN, **changes: Any) -> dict[str, Any]:
    """The summary of a run whose first component failed."""
    config = load(preset="demo").model_dump(mode="json")
    return {
        "run": run,
        "pipeline": "demo",
        "input": "/data/my clicks",
        **dict.fromkeys(SUMMARY_KEYS),
        "components": [],
        "config": config,
        "stack": {"python": "3.10.13", "tfx": "1.16.0"},
        "error": "clicks.csv:7: label: must be 0 or 1, got 2",
    } | changes


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with one run that ended before any component completed."""
    # It turns logging off for the whole process, other tests included.
    monkeypatch.setattr("pipeline.cli.quiet.silence", lambda: None)
    folder = tmp_path / "demo" / "reports"
    folder.mkdir(parents=True)
    (folder / f"{RUN}.json").write_text(json.dumps(summary_of()))
    connection = metadata_store_pb2.ConnectionConfig()
    connection.sqlite.filename_uri = str(tmp_path / "demo" / "metadata.db")
    connection.sqlite.connection_mode = 3
    store = mlmd.MetadataStore(connection)
    kind = store.put_context_type(metadata_store_pb2.ContextType(name="pipeline_run"))
    store.put_contexts([metadata_store_pb2.Context(type_id=kind, name=RUN)])
    return tmp_path


def test_a_failed_run_gets_a_page_and_a_card(root: Path) -> None:
    card = root / "new" / "card.md"
    arguments = ["--root", str(root), "--card", str(card), "--json"]
    done = CliRunner().invoke(report, arguments, catch_exceptions=False)
    page = root / "demo" / "reports" / f"{RUN}.html"
    assert json.loads(done.output) == {"report": str(page), "card": str(card)}
    text = page.read_text("utf-8")
    assert "must be 0 or 1, got 2" in text
    assert "the run did not reach ClickLogExampleGen" in text
    assert "the run did not reach Evaluator" in card.read_text("utf-8")


def test_a_page_is_written_where_output_says(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    arguments = ["--root", str(root), "--run", RUN[:10], "--output", str(target)]
    done = CliRunner().invoke(report, arguments, catch_exceptions=False)
    assert done.output == f"report: {target}\n"
    assert target.read_text("utf-8").startswith("<!doctype html>")


def test_an_unknown_run_is_refused_with_the_nearest(root: Path) -> None:
    with pytest.raises(UsageError, match=f"Did you mean '{RUN}'"):
        find_summary(root, RUN.replace("2026", "2027"))
    with pytest.raises(UsageError, match="no such folder"):
        find_summary(root / "none", "latest")


def test_statistics_hold_no_id(tmp_path: Path) -> None:
    stats = statistics_pb2.DatasetFeatureStatisticsList()
    dataset = stats.datasets.add(num_examples=10)
    for name in ("user", "device"):
        feature = dataset.features.add(type=statistics_pb2.FeatureNameStatistics.STRING)
        feature.path.step.append(name)
        feature.string_stats.unique = 3
        feature.string_stats.top_values.add(value=f"{name}-1", frequency=6)
        feature.string_stats.common_stats.num_non_missing = 9
        feature.string_stats.common_stats.num_missing = 1
    number = dataset.features.add(type=statistics_pb2.FeatureNameStatistics.INT)
    number.path.step.append("request")
    number.num_stats.min = number.num_stats.max = number.num_stats.mean = 4711
    for split in ("eval", "train"):
        folder = tmp_path / f"Split-{split}"
        folder.mkdir()
        (folder / STATISTICS_FILE).write_bytes(stats.SerializeToString())

    train, evaluated = read_statistics(str(tmp_path), frozenset({"user", "request"}))

    assert (train["split"], evaluated["split"]) == ("train", "eval")
    user, device, request = train["features"]
    assert device["top"] == [["device-1", 6.0]]
    assert device["present"] == user["present"] == 9 / 10
    assert user["unique"] == 3
    assert "user-1" not in str(train)
    assert "4711" not in str(request)


def test_anomalies_of_id_columns_quote_no_value(tmp_path: Path) -> None:
    found = anomalies_pb2.Anomalies()
    for name in ("device", "user"):
        found.anomaly_info[name].description = f"unexpected value: {name}-1"
        found.anomaly_info[name].short_description = "Unexpected value"
    (tmp_path / "Split-eval").mkdir()
    (tmp_path / "Split-eval" / ANOMALIES_FILE).write_bytes(found.SerializeToString())

    rows = read_anomalies(str(tmp_path), frozenset({"user"}))

    assert [row["description"] for row in rows] == [
        "unexpected value: device-1",
        "Unexpected value",
    ]


def test_slices_by_user_are_left_out_and_counted() -> None:
    slices = [{"slice": {}}, {"slice": {"user_id": "u1", "device": "ios"}}]
    verdict = {"blessed": True, "reason": "blessed", "checks": list(slices)}
    summary = summary_of(slices=slices, verdict=verdict)
    shown, hidden = without_ids(summary, id_columns(summary["config"]))
    assert hidden == 1
    assert shown["slices"] == shown["verdict"]["checks"] == [{"slice": {}}]


@pytest.mark.parametrize("name", preset_names())
def test_the_configuration_in_a_report_can_be_run(name: str) -> None:
    config = load(preset=name)
    text = as_yaml(config.model_dump(mode="json"))
    assert parse(PipelineConfig, yaml.safe_load(text), name) == config


def test_commands_name_commit_stack_and_input() -> None:
    code = {"version": "0.1.0", "commit": "0123abcd", "modified": False}
    assert reproduce(summary_of() | {"code": code}, Path("runs")) == [
        "git checkout 0123abcd",
        "make setup STACK=older",
        "ctr run --config run.yaml --input '/data/my clicks'",
        f"ctr report --run {RUN} --root runs",
    ]


def test_a_simulated_log_is_simulated_again(tmp_path: Path) -> None:
    summary = summary_of(input=str(tmp_path / "demo" / "input" / "0123"))
    command, _ = reproduce(summary, tmp_path)
    assert command == "ctr run --config run.yaml"


@pytest.mark.slow
def test_curves_keep_the_last_point_and_no_more_than_a_chart_needs(
    tmp_path: Path,
) -> None:
    import tensorflow as tf

    steps = 2 * MOST_POINTS + 2
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for step in range(1, steps + 1):
            tf.summary.scalar("train/loss", 1.0 / step, step=step)
        tf.summary.scalar("validation/gauc", 0.5, step=7)
        tf.summary.histogram("weights", [1.0, 2.0], step=7)

    curves = read_curves(str(tmp_path))

    assert set(curves) == {"train/loss", "validation/gauc"}
    assert curves["validation/gauc"] == {"steps": [7.0], "values": [0.5]}
    loss = curves["train/loss"]
    # Every third of 1,002 steps, from the first one; then the last.
    assert loss["steps"] == [*map(float, range(1, steps + 1, 3)), steps]
    assert loss["values"][-1] == pytest.approx(1.0 / steps)

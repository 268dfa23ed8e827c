"""``ctr runs diff``: what differs between two runs."""

import json

import pytest
from click.testing import CliRunner

from pipeline.cli.main import cli
from pipeline.run_diff import run_diff


def summary(run, **changes):
    content = {
        "run": run,
        "pipeline": "demo",
        "config": {"train": {"epochs": 3}, "evaluate": {"slices": [["device"]]}},
        "components": [],
        "code": "abc",
        "stack": {"python": "3.10"},
        "input": "log",
        "data": {"rows_read": 10, "rows_written": 10, "rows_quarantined": 0},
        "verdict": {"blessed": True},
        "error": None,
        "pushed": None,
        "slices": [
            {"slice": {}, "rows": 10, "metrics": {"gauc": {"value": 0.7}}},
            {
                "slice": {"device": "ios"},
                "rows": 4,
                "metrics": {"gauc": {"value": None}},
            },
        ],
    }
    return content | changes


def test_equal_runs_differ_in_nothing():
    found = run_diff(summary("a"), summary("b"))
    assert (found["causes"], found["data"]) == ({}, {})
    assert found["metrics"][0]["metrics"] == {"gauc": [0.7, 0.7]}
    assert found["metrics"][1]["metrics"] == {"gauc": [None, None]}


def test_settings_are_named_by_their_path_and_slices_of_either_run_are_there():
    second = summary(
        "b",
        config={"train": {"epochs": 5}, "evaluate": {"slices": [["country"]]}},
        data={"rows_read": 12, "rows_written": 11, "rows_quarantined": 1},
        slices=[
            {"slice": {}, "rows": 11, "metrics": {"gauc": {"value": 0.8}}},
            {"slice": {"country": "DE"}, "rows": 3, "metrics": {}},
        ],
        verdict={"blessed": False},
    )
    found = run_diff(summary("a"), second)
    assert found["causes"] == {
        "config.train.epochs": [3, 5],
        "config.evaluate.slices[0][0]": ["device", "country"],
    }
    assert found["data"] == {
        "rows_read": [10, 12],
        "rows_written": [10, 11],
        "rows_quarantined": [0, 1],
    }
    assert [one["slice"] for one in found["metrics"]] == [
        {},
        {"device": "ios"},
        {"country": "DE"},
    ]
    assert [one["rows"] for one in found["metrics"]] == [[10, 11], [4, None], [None, 3]]
    assert found["verdict"] == ["blessed", "not blessed"]


def test_a_failed_run_has_no_metrics_and_is_compared_all_the_same():
    failed = summary("b", slices=None, verdict=None, data=None, error="Trainer failed")
    found = run_diff(summary("a"), failed)
    assert found["verdict"] == ["blessed", "failed"]
    assert found["metrics"][0]["metrics"] == {"gauc": [0.7, None]}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "demo" / "reports"
    folder.mkdir(parents=True)
    for name, epochs in (("2026-01-01", 3), ("2026-01-02", 4)):
        content = summary(name, config={"train": {"epochs": epochs}, "note": "[b]"})
        (folder / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_the_command_prints_both_tables(root):
    done = CliRunner().invoke(
        cli, ["runs", "diff", "2026-01-01", "latest", "--root", str(root)]
    )
    assert done.exit_code == 0, done.output
    assert "config.train.epochs" in done.output
    assert "+0.0000" in done.output
    answer = CliRunner().invoke(
        cli, ["runs", "diff", "2026-01-01", "latest", "--root", str(root), "--json"]
    )
    assert json.loads(answer.output)["causes"] == {"config.train.epochs": [3, 4]}

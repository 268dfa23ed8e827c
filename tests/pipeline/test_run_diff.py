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
        "config.evaluate.slices": [[["device"]], [["country"]]],
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


def causes(first, second):
    """Differences of two configurations."""
    return run_diff(summary("a", config=first), summary("b", config=second))["causes"]


def test_entries_of_a_list_are_compared_by_their_name():
    price, age = {"name": "price", "clip": None}, {"name": "age", "clip": 5}
    clipped, brand = price | {"clip": 9}, {"name": "brand", "clip": None}
    found = causes({"features": [price, age]}, {"features": [brand, clipped]})
    assert found == {
        "config.features[price].clip": [None, 9],
        "config.features[age]": [age, None],
        "config.features[brand]": [None, brand],
    }


def test_another_order_of_named_entries_is_a_difference():
    price, age = {"name": "price"}, {"name": "age"}
    found = causes({"features": [price, age]}, {"features": [age, price]})
    assert found == {
        "config.features (order)": [["price", "age"], ["age", "price"]],
    }


def test_entries_without_a_name_of_their_own_are_compared_by_their_place():
    gates = [{"slice": ["a"], "min_rows": 0}, {"slice": ["b"], "min_rows": 0}]
    other = [gates[0], gates[1] | {"min_rows": 9}]
    assert causes({"gates": gates}, {"gates": other}) == {
        "config.gates[1].min_rows": [0, 9]
    }
    assert causes({"gates": gates[:1]}, {"gates": gates}) == {
        "config.gates[1]": [None, gates[1]]
    }
    twice = [{"name": "x", "k": 1}, {"name": "x", "k": 2}]
    assert causes({"l": twice}, {"l": [twice[0], twice[0]]}) == {
        "config.l[1].k": [2, 1]
    }


def test_a_setting_that_is_absent_is_one_that_is_null():
    assert causes({"train": {"seed": None}}, {"train": {}}) == {}


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


def write(root, pipeline, run, **changes):
    """Writes the summary of a run of a pipeline."""
    folder = root / pipeline / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    content = summary(run, pipeline=pipeline, **changes)
    (folder / f"{run}.json").write_text(json.dumps(content))


def diff(root, *arguments):
    """What ``ctr runs diff`` prints."""
    command = ["runs", "diff", *arguments, "--root", str(root)]
    done = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_runs_that_differ_in_nothing_get_a_line_and_no_empty_table(tmp_path):
    write(tmp_path, "demo", "2026-01-01")
    write(tmp_path, "demo", "2026-01-02")
    printed = diff(tmp_path, "2026-01-01", "latest")
    assert "no difference in configuration" in printed
    assert "what" not in printed


def test_latest_beside_an_id_is_the_latest_of_the_same_pipeline(root):
    write(root, "ads", "2026-01-03")
    printed = diff(root, "2026-01-01", "latest")
    assert "second: 2026-01-02, blessed" in printed
    assert "two pipelines" not in printed
    assert "first: 2026-01-02, blessed" in diff(root, "latest", "2026-01-01")
    assert "first: 2026-01-03" in diff(root, "latest", "latest")
    printed = diff(root, "latest", "latest", "--pipeline", "demo")
    assert "first: 2026-01-02" in printed


def test_runs_of_two_pipelines_are_compared_with_a_note(root):
    write(root, "ads", "2026-01-03")
    printed = diff(root, "2026-01-01", "2026-01-03")
    assert "note: runs of two pipelines, demo and ads" in printed


def test_a_setting_that_is_a_mapping_shows_what_is_set_in_it(tmp_path):
    feature = {"name": "price", "clip": None, "log1p": True}
    write(tmp_path, "demo", "2026-01-01", config={"features": []})
    write(tmp_path, "demo", "2026-01-02", config={"features": [feature]})
    (row,) = [
        one
        for one in diff(tmp_path, "2026-01-01", "latest").splitlines()
        if "features" in one
    ]
    cells = [one.strip() for one in row.strip("│").split("│")]
    assert cells == ["config.features[price]", "-", "name: price, log1p: True"]

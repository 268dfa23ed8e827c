"""Names as the cluster takes them, by the shared cases."""

import json

import pytest
from click.testing import CliRunner

from data.errors import ConfigError
from pipeline.cli.main import cli
from pipeline.config import load
from pipeline.kubeflow.names import (
    label_rule,
    parameter_name_rule,
    pipeline_name_rule,
    task_name_rule,
)


@pytest.fixture
def cases(shared_dir):
    path = shared_dir / "cases" / "35_names" / "names.json"
    if not path.exists():
        pytest.skip(f"no cases of names: {path} is absent")
    return json.loads(path.read_text("utf-8"))


def test_of_the_cases_only_one_is_a_name_of_a_pipeline(cases):
    good = [
        name for name in cases["pipeline_names"] if pipeline_name_rule(name) is None
    ]
    assert good == ["ok-name"]


def test_of_the_cases_only_one_is_a_name_of_a_parameter(cases):
    good = [
        name for name in cases["parameter_names"] if parameter_name_rule(name) is None
    ]
    assert good == ["date"]


def test_the_cases_of_names_are_refused_by_the_configuration(cases, tmp_path):
    for name in cases["pipeline_names"]:
        path = tmp_path / "pipeline.yaml"
        path.write_text(json.dumps({"name": name, "data": MINIMAL_DATA}), "utf-8")
        if name == "ok-name":
            assert load(config=path).name == name
            continue
        with pytest.raises(ConfigError) as caught:
            load(config=path)
        (line,) = str(caught.value).splitlines()
        assert "name: must match" in line


@pytest.mark.parametrize(
    ("target", "expected"), [("kubeflow", "pipe.yaml"), ("vertex", "pipe.json")]
)
def test_of_the_cases_one_is_an_output_file(cases, target, expected, tmp_path):
    for name in cases["output_files"]:
        path = tmp_path / name
        done = CliRunner().invoke(
            cli, ["compile", "--target", target, "--output", str(path)]
        )
        # The good one comes as far as the next rule.
        rule = "pass either --config" if name == expected else f"--output {path}: "
        assert rule in str(done.exception)


MINIMAL_DATA = {
    "keys": {"label": "click"},
    "split": {"by": "hash", "columns": ["user"], "eval_fraction": 0.2},
    "features": [{"name": "user", "kind": "categorical", "buckets": 10}],
}


@pytest.mark.parametrize(
    ("name", "is_good"),
    [
        ("a", True),
        ("a-b.c1", True),
        ("a..b", False),
        ("a-.b", False),
        ("a" * 63, True),
        ("a" * 64, False),
        ("a-", False),
    ],
)
def test_pipelines_are_named_like_hosts(name, is_good):
    assert (pipeline_name_rule(name) is None) == is_good


@pytest.mark.parametrize(
    ("name", "is_good"),
    [
        ("Trainer", True),
        ("0-a", True),
        ("t" * 121, True),  # 121 and "-driver" are 128
        ("t" * 122, False),
        ("latest_model", False),
        ("Evaluator.rows", False),
        ("-a", False),
        ("", False),
    ],
)
def test_tasks_are_named_as_argo_takes_them(name, is_good):
    assert (task_name_rule(name) is None) == is_good


@pytest.mark.parametrize(
    ("key", "value", "is_good"),
    [
        ("kueue.x-k8s.io/queue-name", "gpu-queue", True),
        ("gpu", "", True),
        ("a/b/c", "x", False),
        ("a..b/c", "x", False),
        ("d" * 253 + "/c", "x", True),
        ("d" * 254 + "/c", "x", False),
        ("k" * 64, "x", False),
        ("gpu", "x" * 64, False),
        ("gpu", "-x", False),
        ("gpu\n", "x", False),
    ],
)
def test_labels_keep_the_rules_of_kubernetes(key, value, is_good):
    assert (label_rule(key, value) is None) == is_good

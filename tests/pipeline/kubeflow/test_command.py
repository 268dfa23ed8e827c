"""``ctr compile`` as a user calls it; the compile itself is in test_compile.py."""

import json
import subprocess
import sys

import pytest
import yaml
from click.testing import CliRunner

from data.errors import UsageError
from pipeline.cli.compile import warn_of_local_input
from pipeline.cli.main import cli


def call(*arguments):
    return CliRunner().invoke(cli, ["compile", *map(str, arguments)])


@pytest.fixture
def spec(document, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(document.to_yaml())
    return path


def test_a_good_spec_passes_the_check(spec):
    done = call("--check", spec)
    assert done.exit_code == 0
    assert done.output == f"{spec}: no rule broken\n"
    assert json.loads(call("--check", spec, "--json").output) == {
        "file": str(spec),
        "faults": [],
    }


def test_a_bad_spec_is_one_line_a_fault_and_exits_with_2(document, task, tmp_path):
    task["retryPolicy"] = {"maxRetryCount": 1}
    document.pipeline["schemaVersion"] = "2.0.0"
    path = tmp_path / "spec.yaml"
    path.write_text(document.to_yaml())
    done = call("--check", path)
    assert isinstance(done.exception, UsageError)
    assert done.exception.exit_code == 2
    lines = done.output.splitlines()
    assert [line.split(":")[0] for line in lines] == ["schema", "retries"]
    found = json.loads(call("--check", path, "--json").output)["faults"]
    assert [sorted(fault) for fault in found] == [
        ["place", "remedy", "rule", "value"]
    ] * 2


def test_a_pipeline_job_is_checked_as_the_spec_inside(document, tmp_path):
    path = tmp_path / "job.json"
    path.write_text(json.dumps({"pipelineSpec": document.pipeline}))
    done = call("--check", path, "--json")
    (fault,) = json.loads(done.output)["faults"]
    assert fault["value"] == "PipelineJob"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not valid YAML"),
        ("[]", "must hold a PipelineSpec"),
        ("a: 1\n---\nb: 2\n---\nc: 3\n", "must hold a PipelineSpec"),
        ("kind: Workflow", "no PipelineSpec"),
        ("", "must hold a PipelineSpec"),
    ],
)
def test_a_file_that_is_no_spec_is_refused(text, message, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    done = call("--check", path)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)


def test_null_members_are_absent_ones(document, tmp_path):
    content = dict(document.pipeline)
    content["root"] = content["root"] | {"inputDefinitions": None}
    content["components"]["Pusher"]["dag"] = None
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(content))
    assert call("--check", path).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "demo"], "--target: needed"),
        (["--target", "kubeflow"], "--output: needed"),
        (["--check", "a.yaml", "--target", "vertex"], "--check SPEC: takes no option"),
        (
            ["--target", "kubeflow", "--output", "absent/a.yaml", "--preset", "demo"],
            "no folder absent",
        ),
        (["--target", "kubeflow", "--output", "a.yaml"], "pass either --config"),
        (
            ["--target", "kubeflow", "--output", "a.yaml", "--preset", "demo"],
            "--image: needed",
        ),
    ],
)
def test_a_missing_option_is_named(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*arguments)
    assert message in str(done.exception)
    assert getattr(done.exception, "exit_code", None) == 2
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_target_names_those_that_there_are():
    done = call("--target", "argo")
    assert done.exit_code == 2
    assert "kubeflow" in done.output


@pytest.mark.engine
def test_a_compile_writes_the_file_and_says_what_it_holds(tmp_path):
    output = tmp_path / "demo.yaml"
    done = call(
        *("--preset", "demo", "--target", "kubeflow", "--output", output, "--json"),
        # Silence would last for the tests after this one.
        "-v",
        *("--image", "registry.local/ctr:1", "--pipeline-root", "s3://bucket/runs"),
    )
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["input"] == "s3://bucket/runs/demo/input"
    spec = next(yaml.safe_load_all(output.read_text()))
    assert result["tasks"] == len(spec["root"]["dag"]["tasks"])
    assert call("--check", output).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["demo.yaml"]


def test_help_and_configuration_import_neither_kfp_nor_tfx():
    code = (
        "import sys\n"
        "import pipeline.cli.compile, pipeline.config, pipeline.kubeflow.request\n"
        "print([n for n in ('kfp', 'tfx', 'tensorflow') if n in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_compile_does_not_replace_its_configuration(tmp_path):
    config = tmp_path / "ads.yaml"
    config.write_text("name: ads\n")
    done = call("--config", config, "--target", "kubeflow", "--output", config)
    assert isinstance(done.exception, UsageError)
    assert "is the configuration, which it would replace" in str(done.exception)
    assert config.read_text() == "name: ads\n"


def test_a_log_on_this_machine_is_warned_of(tmp_path, capsys):
    warn_of_local_input("s3://bucket/log")
    warn_of_local_input(f"{tmp_path}/absent")
    assert capsys.readouterr().err == ""
    warn_of_local_input(str(tmp_path))
    assert capsys.readouterr().err.startswith(
        f"warning: input {tmp_path}: lies on this"
    )

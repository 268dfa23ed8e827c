"""``ctr train``: faults are told before anything starts; a child does the work."""

import json
import sys

import pytest
from click.testing import CliRunner

from components.training_job import TrainingJob
from data.errors import ConfigError
from pipeline.cli.main import cli


@pytest.fixture
def job_file(tmp_path, monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    path = tmp_path / "job.json"
    TrainingJob(
        train_files=("x/*",),
        transform_output="t",
        serving_model_dir=str(tmp_path / "model"),
        model_run_dir=str(tmp_path / "run"),
        custom_config={"train": json.dumps({"strategy": "multi_worker_mirrored"})},
    ).save(path)
    return path


@pytest.fixture
def started(monkeypatch):
    """Commands that the supervisor was made for; each ends with code 75."""
    commands = []

    class Fake:
        def __init__(self, command, restarts, note):
            commands.append((command, restarts))
            note("cluster lost")

        def run(self):
            return 75

    monkeypatch.setattr("components.cluster.supervisor.Supervisor", Fake)
    return commands


@pytest.mark.parametrize(
    ("tf_config", "part"),
    [("{'cluster'", "TF_CONFIG: not JSON"), ("", "needs a cluster and found none")],
)
def test_a_faulty_cluster_is_told_before_anything_starts(
    job_file, started, monkeypatch, tf_config, part
):
    monkeypatch.setenv("TF_CONFIG", tf_config)

    done = CliRunner().invoke(cli, ["train", "--job", str(job_file)])

    assert isinstance(done.exception, ConfigError)
    assert part in str(done.exception)
    assert started == []


def test_a_child_trains_and_its_exit_code_is_passed_on(job_file, started, monkeypatch):
    task = {"type": "worker", "index": 0}
    cluster = {"worker": ["127.0.0.1:1", "127.0.0.1:2"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))

    done = CliRunner().invoke(cli, ["train", "--job", str(job_file), "--restarts", "2"])

    assert done.exit_code == 75
    assert "training: cluster lost" in done.output
    # The same command without a supervisor of its own.
    command = [sys.executable, "-m", "pipeline.cli.main", "train"]
    command += ["--job", str(job_file), "--restarts", "0"]
    assert started == [(command, 2)]


def test_a_job_is_needed():
    done = CliRunner().invoke(cli, ["train"])

    assert done.exit_code == 2
    assert "--job" in done.output

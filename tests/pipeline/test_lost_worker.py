"""Two workers train together; one is killed, both start again, nothing is lost."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import portpicker
import psutil
import pytest

from components.training_job import TrainingJob
from pipeline.config import load

pytestmark = pytest.mark.e2e


def job_of(run, folder, name):
    """The training of a small run, long enough to be killed in between."""
    base = Path(run["model"]).parents[3]
    config = load(base.parent / "small.yaml")
    (packed,) = sorted((base / "artifacts/PackExamples/packed").iterdir())[:1]
    (graph,) = sorted((base / "artifacts/Transform/transform_graph").iterdir())[:1]
    train = config.train.model_copy(
        update={
            "epochs": 12,
            "strategy": "multi_worker_mirrored",
            "checkpoint_steps": 10,
            "cluster_timeout": 120,
        }
    )
    job = TrainingJob(
        train_files=(f"{packed}/Split-train/*",),
        transform_output=str(graph),
        serving_model_dir=str(folder / name / "model"),
        model_run_dir=str(folder / name / "log"),
        custom_config={
            "dataset": config.data.model_dump_json(),
            "model": config.model.model_dump_json(),
            "train": train.model_dump_json(),
            "checkpoints": str(folder / name / "checkpoints"),
        },
    )
    path = folder / f"{name}.json"
    job.save(path)
    return path


def start(job, folder):
    """Both workers, each under its supervisor; they log into files of the folder."""
    ports = [portpicker.pick_unused_port() for _ in range(2)]
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    processes = []
    for index in range(2):
        task = {"type": "worker", "index": index}
        with (folder / f"{job.stem}-{index}.log").open("w") as log:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "pipeline.cli.main", "train", "--job", job],
                    env={
                        **os.environ,
                        "TF_CONFIG": json.dumps({"cluster": cluster, "task": task}),
                    },
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
    return processes


def finish(processes):
    try:
        codes = [process.wait(timeout=500) for process in processes]
    finally:
        for process in processes:
            process.terminate()
    assert codes == [0, 0]


def test_a_killed_worker_comes_back_and_the_training_goes_on(runs, tmp_path):
    whole = job_of(runs[0], tmp_path, "whole")
    finish(start(whole, tmp_path))

    killed = job_of(runs[0], tmp_path, "killed")
    processes = start(killed, tmp_path)
    logs = [tmp_path / f"killed-{index}.log" for index in range(2)]
    # The report of the second checkpoint: the first one is complete.
    while "step 20," not in logs[1].read_text():
        assert processes[1].poll() is None, logs[1].read_text()
        time.sleep(0.1)
    (worker,) = psutil.Process(processes[1].pid).children()
    worker.kill()
    finish(processes)

    assert all("starts again" in log.read_text() for log in logs)
    told = [
        json.loads((tmp_path / name / "log" / "training.json").read_text())
        for name in ("whole", "killed")
    ]
    assert told[0]["resumed_at"] == 0 < told[1]["resumed_at"]
    for name in ("steps", "examples", "epochs"):
        assert told[0][name] == told[1][name]
    np.testing.assert_allclose(*(one["epoch_losses"] for one in told), rtol=1e-5)
    assert (tmp_path / "killed/model/saved_model.pb").exists()
    # Neither scratch folders of the second worker nor checkpoints are left.
    assert not (tmp_path / "killed/log/_workers").exists()
    assert not list((tmp_path / "killed/checkpoints").iterdir())

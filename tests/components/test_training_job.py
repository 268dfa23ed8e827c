"""Jobs as files, and what each process of a cluster does with one."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from components.training_job import TrainingJob, find_place, run
from data.errors import ConfigError


def job(folder, strategy="default"):
    return TrainingJob(
        train_files=("packed/Split-train/*",),
        transform_output="transform",
        serving_model_dir=str(folder / "model"),
        model_run_dir=str(folder / "run"),
        custom_config={"train": json.dumps({"strategy": strategy})},
    )


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch):
    for name in ("TF_CONFIG", "CTR_WORKERS", "PET_NNODES", "SLURM_STEP_NODELIST"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def trained(monkeypatch):
    """What the Trainer was called with; it writes a file into both folders."""
    calls = []

    def run_fn(fn_args):
        calls.append(fn_args)
        for name in (fn_args.serving_model_dir, fn_args.model_run_dir):
            Path(name).mkdir(parents=True, exist_ok=True)
            (Path(name) / "file").write_text("written")

    trainer = ModuleType("components.trainer")
    trainer.run_fn = run_fn
    monkeypatch.setitem(sys.modules, "components.trainer", trainer)
    return calls


def join(monkeypatch, kind, index, **addresses):
    task = {"type": kind, "index": index}
    text = json.dumps({"cluster": addresses, "task": task})
    monkeypatch.setenv("TF_CONFIG", text)


def test_a_job_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "jobs" / "train.json"
    job(tmp_path).save(path)

    assert TrainingJob.load(path) == job(tmp_path)


def test_a_job_holds_what_the_trainer_was_given(tmp_path):
    given = SimpleNamespace(
        train_files=["a/*"],
        eval_files=["b/*"],
        transform_output="t",
        serving_model_dir="s",
        model_run_dir="r",
        custom_config={"train": "{}"},
        train_steps=5,
    )

    made = TrainingJob.from_fn_args(given)

    assert (made.train_files, made.eval_files) == (("a/*",), ("b/*",))
    assert (made.serving_model_dir, made.model_run_dir) == ("s", "r")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (None, "no such job"),
        ("{", "no job in JSON"),
        ("[]", "no job in JSON"),
        ('{"serving_dir": "x"}', "Did you mean 'serving_model_dir'?"),
    ],
)
def test_a_faulty_file_is_named(tmp_path, text, part):
    path = tmp_path / "job.json"
    if text is not None:
        path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        TrainingJob.load(path)

    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    assert part in str(caught.value)


@pytest.mark.parametrize("custom", [{}, {"train": "{"}, {"train": '{"epocs": 1}'}])
def test_a_faulty_training_is_one_line(tmp_path, custom):
    faulty = job(tmp_path).model_copy(update={"custom_config": custom})

    with pytest.raises(ConfigError, match="custom_config") as caught:
        find_place(faulty)

    assert len(str(caught.value).splitlines()) == 1


def test_a_process_on_its_own_writes_the_outputs(tmp_path, trained):
    run(job(tmp_path))

    assert trained == [job(tmp_path)]
    assert (tmp_path / "model" / "file").exists()


def test_of_several_workers_only_the_chief_leaves_files(tmp_path, trained, monkeypatch):
    left_by_a_kill = tmp_path / "run" / "_workers" / "worker-1" / "model" / "old"
    left_by_a_kill.parent.mkdir(parents=True)
    left_by_a_kill.write_text("old")
    for index in (1, 0):
        join(monkeypatch, "worker", index, worker=["a:1", "b:1"])
        run(job(tmp_path, "multi_worker_mirrored"))

    scratch, chief = trained
    assert scratch.model_run_dir == str(tmp_path / "run" / "_workers" / "worker-1")
    assert chief.model_run_dir == str(tmp_path / "run")
    left = {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")}
    assert left == {"model", "model/file", "run", "run/file"}


def test_the_files_of_a_worker_that_fails_are_removed(tmp_path, trained, monkeypatch):
    def fail(fn_args):
        Path(fn_args.model_run_dir, "part").write_text("x")
        raise OSError("disk full")

    monkeypatch.setattr(sys.modules["components.trainer"], "run_fn", fail)
    join(monkeypatch, "worker", 1, worker=["a:1", "b:1"])

    with pytest.raises(OSError, match="disk full"):
        run(job(tmp_path, "multi_worker_mirrored"))

    assert not list((tmp_path / "run").iterdir())


@pytest.mark.parametrize(("kind", "serves"), [("chief", 0), ("ps", 1), ("worker", 1)])
def test_all_but_the_chief_serve_where_there_are_parameter_servers(
    tmp_path, trained, monkeypatch, kind, serves
):
    served = []
    server = ModuleType("components.cluster.server")
    server.serve = lambda cluster, timeout: served.append((cluster.task_type, timeout))
    monkeypatch.setitem(sys.modules, "components.cluster.server", server)
    join(monkeypatch, kind, 0, chief=["c:1"], ps=["p:1"], worker=["w:1"])

    run(job(tmp_path, "parameter_server"))

    assert (len(served), len(trained)) == (serves, 1 - serves)
    # The default of train.cluster_timeout.
    assert served in ([], [(kind, 300)])


def test_a_strategy_that_does_not_go_with_the_cluster_is_refused_at_once(
    tmp_path, trained, monkeypatch
):
    join(monkeypatch, "ps", 0, chief=["c:1"], ps=["p:1"], worker=["w:1"])

    with pytest.raises(ConfigError, match="no use for ps"):
        run(job(tmp_path, "multi_worker_mirrored"))

    assert trained == []

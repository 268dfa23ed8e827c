"""The step and the pods around a training: what lies where, before and after."""

import errno
import glob
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.cluster.supervisor import LOST_EXIT_CODE
from components.training_job import TrainingJob
from data import paths
from data.errors import ConfigError, RunError
from pipeline.kubeflow import storage
from pipeline.kubeflow.training import step, worker
from pipeline.kubeflow.training.connection import namespace_of
from pipeline.kubeflow.training.retry import PAUSES
from tests.object_store import BUCKET, s3_server
from tests.pipeline.kubeflow.training.conftest import NAMESPACE

RUN = f"s3://{BUCKET}/run"
PACKED = ("packed/Split-train/a", "packed/Split-eval/b")


@pytest.fixture(scope="module", autouse=True)
def store():
    """A store with packed rows and a transform graph."""
    with s3_server() as environment:
        for name in ("packed/manifest.json", *PACKED, "graph/x/y"):
            write(f"{RUN}/{name}", name)
        yield environment


@pytest.fixture(autouse=True)
def pod(tmp_path, monkeypatch):
    """Folders of the launcher below a folder of the test; no cluster around."""
    mounts = {"s3://": f"{tmp_path}/s3/", "gs://": f"{tmp_path}/gcs/"}
    monkeypatch.setattr(storage, "MOUNTS", mounts)
    for name in ("TF_CONFIG", "CTR_WORKERS", "PET_NNODES", "SLURM_STEP_NODELIST"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write(path, text):
    with paths.open_write(path) as file:
        file.write(text.encode())


def read(path):
    with paths.open_read(path) as file:
        return file.read().decode()


@pytest.fixture
def fn_args(pod, make_spec):
    """What TFX hands to the step: folders of the pod."""
    run = storage.to_local(RUN)
    return SimpleNamespace(
        train_files=[f"{run}/packed/Split-train/*"],
        eval_files=[f"{run}/packed/Split-eval/*"],
        transform_output=f"{run}/graph",
        serving_model_dir=f"{run}/model/Format-Serving",
        model_run_dir=f"{run}/model_run",
        custom_config={
            "train": json.dumps({"strategy": "multi_worker_mirrored"}),
            "kubeflow_training": make_spec(namespace=NAMESPACE).model_dump_json(),
        },
    )


def remote():
    """The same as pods of other nodes see it."""
    return TrainingJob(
        train_files=(f"{RUN}/packed/Split-train/*",),
        eval_files=(f"{RUN}/packed/Split-eval/*",),
        transform_output=f"{RUN}/graph",
        serving_model_dir=f"{RUN}/model/Format-Serving",
        model_run_dir=f"{RUN}/model_run",
        custom_config={"train": '{"strategy": "multi_worker_mirrored"}'},
    )


def test_the_step_writes_the_job_to_the_store_and_fetches_the_model(
    fn_args, monkeypatch
):
    def run_job(jobs, spec, uri, note):
        assert (jobs.kind.name, jobs.namespace) == ("TrainJob", NAMESPACE)
        assert spec.training.workers == 3
        assert uri == f"{RUN}/training_job.json"
        job = TrainingJob.model_validate_json(read(uri))
        assert job == remote()
        write(f"{job.serving_model_dir}/saved_model.pb", "model")
        write(f"{job.model_run_dir}/training.json", "{}")

    monkeypatch.setattr(step, "connect", lambda: None)
    monkeypatch.setattr(step, "run_job", run_job)
    step.run_fn(fn_args)
    assert read(f"{fn_args.serving_model_dir}/saved_model.pb") == "model"
    assert read(f"{fn_args.model_run_dir}/training.json") == "{}"


def test_a_training_that_leaves_no_model_is_a_failed_one(fn_args, monkeypatch):
    monkeypatch.setattr(step, "connect", lambda: None)
    monkeypatch.setattr(step, "run_job", lambda *arguments: None)
    fn_args.serving_model_dir = storage.to_local(f"{RUN}/nothing")
    with pytest.raises(RunError, match=f"{RUN}/nothing: nothing there"):
        step.run_fn(fn_args)


@pytest.fixture
def train(monkeypatch):
    """Puts something that reads and writes a job's files in the place of ``ctr train``.

    Returns:
        Runs a worker whose training ends with a code; gives that code, the texts that
        the training read, and the number of restarts.
    """

    def work(code, restarts=3):
        texts, allowed = [], []

        class Training:
            def __init__(self, command, number, note):
                allowed.append(number)
                self.job = TrainingJob.load(Path(command[command.index("--job") + 1]))

            def run(self):
                for pattern in (*self.job.train_files, *self.job.eval_files):
                    files = [Path(one) for one in glob.glob(pattern)]
                    # Readers look for the manifest above the split.
                    files.append(Path(pattern).parents[1] / "manifest.json")
                    texts.extend(one.read_text() for one in files)
                texts.append(read(f"{self.job.transform_output}/x/y"))
                write(f"{self.job.serving_model_dir}/saved_model.pb", "trained")
                write(f"{self.job.model_run_dir}/log/events", "events")
                return code

        monkeypatch.setattr(worker, "Supervisor", Training)
        with pytest.raises(SystemExit) as caught:
            worker.main([f"--job={RUN}/job.json", f"--restarts={restarts}"])
        return caught.value.code, texts, allowed

    return work


def join(monkeypatch, index):
    cluster = {"worker": ["a:2222", "b:2222"]}
    task = {"type": "worker", "index": index}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))


def place_job(folder):
    """A job file whose outputs are of one test."""
    outputs = {"serving_model_dir": f"{folder}/model", "model_run_dir": f"{folder}/run"}
    write(f"{RUN}/job.json", remote().model_copy(update=outputs).model_dump_json())


def test_a_pod_trains_on_what_it_fetched_and_the_chief_puts_the_model(
    train, monkeypatch
):
    place_job(f"{RUN}/chief")
    join(monkeypatch, 0)
    code, texts, restarts = train(0, restarts=5)
    assert (code, restarts) == (0, [5])
    manifest = "packed/manifest.json"
    assert texts == [PACKED[0], manifest, PACKED[1], manifest, "graph/x/y"]
    assert read(f"{RUN}/chief/model/saved_model.pb") == "trained"
    assert read(f"{RUN}/chief/run/log/events") == "events"


@pytest.mark.parametrize(("index", "code"), [(1, 0), (0, 1), (0, 143)])
def test_other_workers_and_failed_ones_put_nothing(train, monkeypatch, index, code):
    place_job(f"{RUN}/none-{index}-{code}")
    join(monkeypatch, index)
    assert train(code)[0] == code
    assert not paths.exists(f"{RUN}/none-{index}-{code}")


def test_a_worker_that_lost_its_cluster_too_often_asks_for_a_new_pod(
    train, monkeypatch
):
    place_job(f"{RUN}/lost")
    join(monkeypatch, 0)
    assert train(LOST_EXIT_CODE)[0] == 138
    assert not paths.exists(f"{RUN}/lost")


@pytest.fixture
def failing_store(monkeypatch):
    """Makes copies fail by an error some times; gives the pauses that were made."""

    def fail(error, times):
        left, copy_tree, pauses = [error] * times, paths.copy_tree, []

        def copy(*arguments):
            if left:
                raise left.pop()
            copy_tree(*arguments)

        monkeypatch.setattr(paths, "copy_tree", copy)
        monkeypatch.setattr(worker, "time", SimpleNamespace(sleep=pauses.append))
        return pauses

    return fail


def test_a_store_that_is_away_for_a_moment_is_asked_again(
    train, monkeypatch, failing_store
):
    place_job(f"{RUN}/away")
    join(monkeypatch, 0)
    pauses = failing_store(OSError("AWS Error SLOW_DOWN during GetObject"), times=3)
    assert train(0)[0] == 0
    assert pauses == [1, 2, 4]
    assert read(f"{RUN}/away/model/saved_model.pb") == "trained"


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (OSError("AWS Error NETWORK_CONNECTION"), len(PAUSES)),
        (OSError(errno.ENOSPC, "No space left on device"), 0),
        (FileNotFoundError(errno.ENOENT, "no such file"), 0),
    ],
)
def test_a_store_that_stays_away_and_what_no_wait_mends_end_the_worker(
    train, monkeypatch, failing_store, capfd, error, tries
):
    place_job(f"{RUN}/never")
    join(monkeypatch, 0)
    pauses = failing_store(error, times=100)
    code, texts, restarts = train(0)
    assert (code, texts, restarts) == (1, [], [])
    assert pauses == list(PAUSES[:tries])
    assert capfd.readouterr().err == f"error: {error}\n"


def test_what_tensorflow_can_read_is_not_fetched(tmp_path):
    shared = {
        "train_files": ("gs://bucket/packed/Split-train/*",),
        "transform_output": "/volume/graph",
        "eval_files": (),
    }
    job = remote().model_copy(update=shared)
    local = worker.localized(job, str(tmp_path))
    assert {name: getattr(local, name) for name in shared} == shared
    assert local.serving_model_dir == f"{tmp_path}/model"
    assert list(tmp_path.iterdir()) == []


def test_a_worker_without_its_job_ends_with_one_line(capfd):
    with pytest.raises(SystemExit) as caught:
        worker.main([f"--job={RUN}/absent.json"])
    assert caught.value.code == 2
    assert capfd.readouterr().err == (
        f"error: {RUN}/absent.json: no such job; the Trainer step writes it\n"
    )


def test_the_namespace_is_the_given_one_or_that_of_the_pod(tmp_path):
    file = tmp_path / "namespace"
    with pytest.raises(ConfigError, match=r"kubeflow\.training\.namespace: needed"):
        namespace_of(None, file)
    file.write_text("ads\n")
    assert namespace_of(None, file) == "ads"
    assert namespace_of("gpu", file) == "gpu"

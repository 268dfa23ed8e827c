"""The compiled spec, run container by container, twice; and the same run locally.

Once with folders in the place of a store, once with everything under ``s3://``.
"""

import json

import pytest

from data import paths
from data.simulator.config import SimulatorConfig
from data.simulator.writing import write_log
from pipeline.config import load
from tests.conftest import small_demo
from tests.object_store import BUCKET, s3_server
from tests.pipeline.kubeflow.interpreter import Interpreter

MODEL = "Format-Serving/saved_model.pb"
COMPARED = ("gauc", "auc", "pcop", "log_loss")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Sums in float32 depend on how threads share them; with one they repeat."""
    with pytest.MonkeyPatch.context() as patch:
        for pool in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
            patch.setenv(pool, "1")
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A configuration and its log."""
    folder = tmp_path_factory.mktemp("kubeflow")
    small_demo(folder)
    write_log(SimulatorConfig(rows=8_000, users=400, days=4), folder / "log", "parquet")
    return folder


@pytest.fixture(scope="module", params=["folders", "s3"])
def place(request, folder):
    """Folder of the log, pipeline root, pushed versions and pointer."""
    if request.param == "folders":
        yield str(folder)
        return
    with s3_server():
        paths.copy_tree(str(folder / "log"), f"s3://{BUCKET}/log")
        yield f"s3://{BUCKET}"


@pytest.fixture(scope="module")
def runs(folder, place):
    """Output artifacts of a first and a second run under one pipeline root."""
    from pipeline.kubeflow.compile import compile_kubeflow
    from pipeline.kubeflow.request import Request

    document = compile_kubeflow(
        load(config=folder / "small.yaml"),
        Request(
            image="image",
            pipeline_root=f"{place}/root",
            input_base="a parameter of the run stands over this",
            serving=f"{place}/serving",
            blessed_model=f"{place}/latest.json",
        ),
    )
    interpreter = Interpreter(document, folder)
    return [interpreter.run({"input_base": f"{place}/log"}) for _ in range(2)]


@pytest.fixture(scope="module")
def local(folder, run_ctr):
    """The summary of the same run on this machine."""
    return run_ctr(
        *("run", "--config", str(folder / "small.yaml")),
        *("--input", str(folder / "log"), "--root", str(folder / "local")),
    )


def slices(run, folder):
    from components.evaluation import read_results

    copy = folder / "evaluation" / run["Evaluator"]["evaluation"]["uri"].split("/")[-3]
    paths.copy_tree(run["Evaluator"]["evaluation"]["uri"], str(copy))
    return read_results(str(copy))


def read(path):
    with paths.open_read(path) as file:
        return file.read()


@pytest.mark.e2e
@pytest.mark.slow
def test_the_second_run_finds_the_model_that_the_first_one_blessed(runs, place, folder):
    first, second = (
        run["latest-blessed-model-model-resolver"]["model"] for run in runs
    )
    assert first["metadata"] == {"none_yet": "true"}
    trained = runs[0]["Trainer"]["model"]["uri"]
    assert read(f"{second['uri']}/{MODEL}") == read(f"{trained}/{MODEL}")
    before, after = (slices(run, folder)[0] for run in runs)
    assert before.baseline is None
    assert after.baseline["gauc"].value == before.metrics["gauc"].value
    latest = json.loads(read(f"{place}/latest.json"))
    assert latest == {"models": [run["Trainer"]["model"]["uri"] for run in runs]}
    # What ExampleGen's driver found came with its artifact.
    assert "input_fingerprint" in runs[0]["ClickLogExampleGen"]["examples"]["metadata"]


@pytest.mark.e2e
@pytest.mark.slow
def test_both_runs_push_a_whole_version(runs, place):
    versions = [v for v in paths.children(f"{place}/serving") if v.isdigit()]
    assert len(versions) == 2
    for run, version in zip(runs, versions, strict=True):
        trained = f"{run['Trainer']['model']['uri']}/Format-Serving"
        names = paths.walk(trained)
        assert paths.walk(f"{place}/serving/{version}") == names
        for name in names:
            assert read(f"{place}/serving/{version}/{name}") == read(
                f"{trained}/{name}"
            )


@pytest.mark.e2e
@pytest.mark.slow
def test_containers_measure_what_a_local_run_measures(runs, local, folder):
    there = {json.dumps(one["slice"]): one for one in local["slices"]}
    here = [one.to_json() for one in slices(runs[0], folder)]
    assert len(here) == len(there)
    for one in here:
        other = there[json.dumps(one["slice"])]
        assert one["rows"] == other["rows"]
        for name in COMPARED:
            value, expected = (r["metrics"][name]["value"] for r in (one, other))
            # Undefined in both, or equal.
            assert (value is None) == (expected is None)
            assert (value or 0.0) == pytest.approx(expected or 0.0, rel=1e-9, abs=1e-12)

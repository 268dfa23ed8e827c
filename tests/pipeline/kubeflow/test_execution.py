"""The compiled spec, run container by container, twice; and the same run locally."""

import json
from pathlib import Path

import pytest

from data.simulator.config import SimulatorConfig
from data.simulator.writing import write_log
from pipeline.config import load
from tests.conftest import small_demo
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


@pytest.fixture(scope="module")
def runs(folder):
    """Output artifacts of a first and a second run under one pipeline root."""
    from pipeline.kubeflow.compile import compile_kubeflow
    from pipeline.kubeflow.request import Request

    root = folder / "root"
    document = compile_kubeflow(
        load(config=folder / "small.yaml"),
        Request(
            image="image",
            pipeline_root=str(root),
            input_base="a parameter of the run stands over this",
            serving=str(root / "serving"),
            blessed_model=str(root / "latest.json"),
        ),
    )
    interpreter = Interpreter(document, folder)
    return [interpreter.run({"input_base": str(folder / "log")}) for _ in range(2)]


def slices(run):
    from components.evaluation import read_results

    return read_results(run["Evaluator"]["evaluation"]["uri"])


@pytest.mark.e2e
@pytest.mark.slow
def test_the_second_run_finds_the_model_that_the_first_one_blessed(runs, folder):
    first, second = (
        run["latest-blessed-model-model-resolver"]["model"] for run in runs
    )
    assert first["metadata"] == {"none_yet": "true"}
    trained = Path(runs[0]["Trainer"]["model"]["uri"], MODEL)
    assert Path(second["uri"], MODEL).read_bytes() == trained.read_bytes()
    before, after = (slices(run)[0] for run in runs)
    assert before.baseline is None
    assert after.baseline["gauc"].value == before.metrics["gauc"].value
    latest = json.loads((folder / "root" / "latest.json").read_text())
    assert latest == {"model": runs[1]["Trainer"]["model"]["uri"]}
    assert len(list((folder / "root" / "serving").iterdir())) == 2
    # What ExampleGen's driver found came with its artifact.
    assert "input_fingerprint" in runs[0]["ClickLogExampleGen"]["examples"]["metadata"]


@pytest.mark.e2e
@pytest.mark.slow
def test_containers_measure_what_a_local_run_measures(runs, folder, run_ctr):
    local = run_ctr(
        *("run", "--config", str(folder / "small.yaml")),
        *("--input", str(folder / "log"), "--root", str(folder / "local")),
    )
    there = {json.dumps(one["slice"]): one for one in local["slices"]}
    here = [one.to_json() for one in slices(runs[0])]
    assert len(here) == len(there)
    for one in here:
        other = there[json.dumps(one["slice"])]
        assert one["rows"] == other["rows"]
        for name in COMPARED:
            value, expected = (r["metrics"][name]["value"] for r in (one, other))
            # Undefined in both, or equal.
            assert (value is None) == (expected is None)
            assert (value or 0.0) == pytest.approx(expected or 0.0, rel=1e-9, abs=1e-12)

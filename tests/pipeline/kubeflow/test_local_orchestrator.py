"""The compiled spec, run by kfp's own local orchestrator, through the Pusher.

It reads the spec, resolves inputs, and hands over typed artifacts by kfp's own code.
Containers need Docker there; the one thing changed is that its subprocess runner may
start their commands, too. kfp has it since 2.6, so the older stack skips.
"""

import os
import sys
from pathlib import Path

import pytest

from data.simulator.config import SimulatorConfig
from data.simulator.writing import write_log
from pipeline.config import load
from tests.conftest import small_demo

pytest.importorskip("kfp.local", reason="this kfp has no local orchestrator")

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
MODEL = "saved_model.pb"


@pytest.fixture
def spec(tmp_path):
    """A configuration, its log, and the spec of both."""
    from pipeline.kubeflow.compile import compile_kubeflow
    from pipeline.kubeflow.request import Request

    small_demo(tmp_path)
    log = tmp_path / "log"
    write_log(SimulatorConfig(rows=8_000, users=400, days=4), log, "parquet")
    document = compile_kubeflow(
        load(config=tmp_path / "small.yaml"),
        Request(
            image="image",
            pipeline_root=str(tmp_path / "root"),
            input_base=str(log),
            serving=str(tmp_path / "serving"),
            blessed_model=str(tmp_path / "latest.json"),
        ),
    )
    path = tmp_path / "spec.yaml"
    path.write_text(document.to_yaml())
    return path


def test_kfp_runs_every_task_through_the_pusher(spec, tmp_path, monkeypatch):
    from kfp import components, local
    from kfp.local import subprocess_task_handler

    monkeypatch.setattr(
        subprocess_task_handler.SubprocessTaskHandler,
        "validate_not_container_component",
        lambda self, full_command: None,
    )
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    # The spec says `python`, as in the image.
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    local.init(
        runner=local.SubprocessRunner(use_venv=False),
        pipeline_root=str(tmp_path / "root"),
    )
    pipeline = components.load_component_from_file(str(spec))
    for versions in (1, 2):
        pipeline()
        assert len(list((tmp_path / "serving").glob(f"*/{MODEL}"))) == versions

"""The component blesses for TFX's Pusher, and says why not."""

import json
import shutil
from pathlib import Path

import pytest

from components.serving_check.config import ServingCheckConfig
from data.records import frame_all
from tests.components.serving_check.conftest import save

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@pytest.fixture
def call(tmp_path, rows):
    """Runs the component on a model; returns its blessing."""
    from tfx.types.standard_artifacts import Examples, InfraBlessing, Model

    from components.serving_check.component import ServingCheck

    def call(model, other=None, **settings):
        artifacts = [Examples(), Model(), InfraBlessing()]
        for name, artifact in zip(("rows", "trained", "out"), artifacts, strict=True):
            artifact.uri = str(tmp_path / name)
        split = tmp_path / "rows" / "Split-eval"
        split.mkdir(parents=True)
        (split / "data").write_bytes(frame_all(rows))
        shutil.copytree(model, tmp_path / "trained" / "Format-Serving")
        config = ServingCheckConfig(**settings).model_dump_json()
        ServingCheck.test_call(*artifacts, settings=config, infra_blessing=other)
        return artifacts[2]

    return call


def may_push(blessing):
    """What TFX's own Pusher makes of it."""
    from tfx.components.pusher.executor import Executor

    return Executor().CheckBlessing({"infra_blessing": [blessing]})


def result_of(blessing):
    return json.loads((Path(blessing.uri) / "serving_check.json").read_text())


def test_a_sound_model_may_be_pushed(call, saved):
    model = saved()
    blessing = call(model)
    assert may_push(blessing)
    assert (Path(blessing.uri) / "INFRA_BLESSED").exists()
    found = result_of(blessing)
    assert found["passed"]
    assert found["rows"] == 4
    assert {check["status"] for check in found["checks"]} == {"pass"}
    files = [one for one in Path(model).rglob("*") if one.is_file()]
    assert found["size_bytes"] == sum(one.stat().st_size for one in files)


def test_a_signature_that_differs_from_the_evaluated_one_holds_the_model_back(
    call, saved
):
    blessing = call(saved(tensors_shift=0.5))
    assert not may_push(blessing)
    assert (Path(blessing.uri) / "INFRA_NOT_BLESSED").exists()
    failed = {
        (check["check"], check["signature"])
        for check in result_of(blessing)["checks"]
        if check["status"] == "fail"
    }
    assert failed == {("evaluated", "named_tensors")}


def test_limits_hold_a_model_back(call, saved):
    blessing = call(saved(), max_size_mib=1e-6, max_p99_ms=1e-6)
    assert not may_push(blessing)
    reason = result_of(blessing)["reason"]
    assert "size: " in reason
    assert "latency of serving_default: p99 of batch 1 above max_p99_ms 1e-06" in reason


def test_a_damaged_model_is_not_blessed_and_does_not_end_the_run(call, tmp_path):
    folder = save(tmp_path / "damaged")
    Path(folder, "saved_model.pb").write_bytes(b"no graph")
    blessing = call(folder)
    assert not may_push(blessing)
    assert "load: the model cannot be loaded" in result_of(blessing)["reason"]


@pytest.mark.parametrize("blessed", [0, 1])
def test_the_infra_validator_has_to_agree(call, saved, blessed):
    from tfx.types.standard_artifacts import InfraBlessing

    other = InfraBlessing()
    other.set_int_custom_property("blessed", blessed)
    blessing = call(saved(), other)
    assert may_push(blessing) is bool(blessed)
    last = result_of(blessing)["checks"][-1]
    assert last["check"] == "InfraValidator"
    assert last["status"] == ("pass" if blessed else "fail")

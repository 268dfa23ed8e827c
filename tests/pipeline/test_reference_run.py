"""A run against a pinned model, with metrics of TFMA's own beside it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.config import load
from pipeline.observer import Silent
from pipeline.preset_files import PRESETS

pytestmark = pytest.mark.e2e


def small(folder: Path, name: str, evaluate: dict[str, Any]) -> Path:
    """The demo preset on a log that takes seconds."""
    content = yaml.safe_load((PRESETS / "demo.yaml").read_text())
    content["name"] = name
    content["simulate"] = {"rows": 6_000, "users": 300, "days": 3}
    content["train"] = {"epochs": 1, "batch_size": 256}
    content["evaluate"] = {"slices": [["device"]]} | evaluate
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """A pushed model, then the same training against it, once by each layout."""
    from pipeline.run import run

    folder = tmp_path_factory.mktemp("reference")
    plain = {"gates": {"overall": {"gauc": {"min": 0.2}}}}
    config = load(config=small(folder, "first", plain))
    done = [run(config, None, folder, Silent())]
    for name, key in (("pushed", "pushed"), ("artifact", "model")):
        evaluate = {
            "reference": done[0][key],
            "tfma_metrics": ["AUC", "Calibration"],
            "gates": {"reference": {"gauc": {"non_inferior": 0.0}}},
        }
        config = load(config=small(folder, name, evaluate))
        done.append(run(config, done[0]["input"], folder, Silent()))
    return done


def test_the_same_model_is_not_inferior_to_the_pinned_one(
    runs: list[dict[str, Any]],
) -> None:
    for run in runs[1:]:
        (check,) = run["verdict"]["checks"]
        assert (check["against"], check["status"]) == ("reference", "pass")
        # Same rows, seed and settings: training is deterministic.
        assert (check["value"], check["interval"]) == (0.0, [0.0, 0.0])
        assert run["baseline"] is None
        assert run["reference"] in (runs[0]["pushed"], runs[0]["model"])
        assert Path(run["pushed"], "saved_model.pb").exists()


def test_metrics_of_tfma_agree_with_ours(runs: list[dict[str, Any]]) -> None:
    import tensorflow_model_analysis as tfma

    (folder,) = (
        Path(runs[1]["file"]).parents[1].glob("artifacts/Evaluator.rows/evaluation/*")
    )
    theirs = {
        frozenset(key): values[""][""]
        for key, values in tfma.load_eval_result(str(folder)).slicing_metrics
    }
    assert len(theirs) == len(runs[1]["slices"]) > 1
    for one in runs[1]["slices"]:
        values = theirs[frozenset(one["slice"].items())]
        pcop = one["metrics"]["pcop"]["value"]
        assert values["calibration"]["doubleValue"] == pytest.approx(pcop, rel=1e-5)
        # TFMA sorts scores into 10,000 buckets and so ties those of one bucket.
        auc = one["metrics"]["auc"]["value"]
        assert values["auc"]["doubleValue"] == pytest.approx(auc, abs=0.01)

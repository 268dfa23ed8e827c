"""Where the pinned model is found, and which metrics of TFMA there are."""

import pytest

from components.reference_model import saved_model_path
from components.row_evaluation import row_eval_config
from data.errors import ConfigError

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("layout", [".", "Format-Serving"])
def test_a_pushed_version_and_a_model_artifact_are_found(layout, tmp_path):
    folder = tmp_path / "7" / layout
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").touch()
    found = saved_model_path(str(tmp_path / "7"))
    assert (tmp_path / "7" / layout).samefile(found)


@pytest.mark.parametrize("name", [".", "none"])
def test_a_folder_without_a_model_is_refused(name, tmp_path):
    # The folder above the versions is an easy slip.
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "saved_model.pb").touch()
    with pytest.raises(ConfigError, match="no SavedModel here; name a pushed version"):
        saved_model_path(str(tmp_path / name))


def test_metrics_of_tfma_go_with_slices_and_without_thresholds():
    config = row_eval_config(
        metrics=["AUC", "Calibration"],
        label_key="click",
        weight_key="w",
        slices=[["device"], ["position", "device"]],
    )
    (spec,) = config.metrics_specs
    assert [metric.class_name for metric in spec.metrics] == ["AUC", "Calibration"]
    assert not any(metric.HasField("threshold") for metric in spec.metrics)
    assert [list(one.feature_keys) for one in config.slicing_specs] == [
        [],
        ["device"],
        ["device", "position"],
    ]
    (model,) = config.model_specs
    assert (model.label_key, model.example_weight_key) == ("click", "w")


def test_an_unknown_metric_of_tfma_names_the_nearest():
    with pytest.raises(ConfigError, match=r"no metric 'Calibraton'.*'Calibration'"):
        row_eval_config(metrics=["Calibraton"], label_key="click")

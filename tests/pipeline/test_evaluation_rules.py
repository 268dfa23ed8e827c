"""Top slices, the reference model and TFMA's metrics, as a configuration names them."""

from pathlib import Path

import pytest

from data.errors import ConfigError
from pipeline.config import load

MINIMAL = """
name: mine
data:
  keys: {label: click, user_id: user}
  split: {by: hash, columns: [user]}
  features:
    - {name: item, kind: categorical, buckets: 10}
    - {name: device, kind: categorical, buckets: 10}
"""
GATE = "gates: {reference: {gauc: {non_inferior: 0.01}}}"


def write(folder: Path, evaluate: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(f"{MINIMAL}evaluate: {{{evaluate}}}\n")
    return path


def test_top_slices_and_metrics_of_tfma_are_read(tmp_path: Path) -> None:
    text = (
        "top_slices: [{slice: [item]}, {slice: [item, device], k: 5}], "
        "min_slice_rows: 10, tfma_metrics: [AUC, Calibration]"
    )
    evaluate = load(config=write(tmp_path, text)).evaluate
    assert [(top.slice, top.k) for top in evaluate.top_slices] == [
        (("item",), 20),
        (("item", "device"), 5),
    ]
    assert evaluate.min_slice_rows == 10
    assert evaluate.tfma_metrics == ("AUC", "Calibration")


def test_the_reference_is_relative_to_the_file(tmp_path: Path) -> None:
    config = load(config=write(tmp_path, f"reference: serving/7, {GATE}"))
    assert config.evaluate.reference == str(tmp_path / "serving/7")
    remote = load(config=write(tmp_path, f'reference: "gs://bucket/7", {GATE}'))
    assert remote.evaluate.reference == "gs://bucket/7"


SLICE_GATE = "gates: {slices: [{slice: [item], metrics: {gauc: {min: 0.5}}}]}"


@pytest.mark.parametrize(
    ("evaluate", "message"),
    [
        (
            "top_slices: [{slice: [itm]}]",
            r"evaluate.top_slices\[0\].slice: no column 'itm'.*'item'",
        ),
        ("top_slices: [{slice: [item], k: 0}]", r"top_slices\[0\].k: must be >= 1"),
        ("top_slices: [{slice: [item], k: 1001}]", "k: must be <= 1000, got 1001"),
        (
            "slices: [[device, item]], top_slices: [{slice: [item, device]}]",
            r"top_slices\[0\].slice: \['item', 'device'\] is declared already",
        ),
        (
            "top_slices: [{slice: [item]}, {slice: [item], k: 3}]",
            r"top_slices\[1\].slice: \['item'\] is declared already",
        ),
        (
            f"top_slices: [{{slice: [item]}}], {SLICE_GATE}",
            r"gates.slices\[0\].slice: \['item'\] is among evaluate.top_slices.*move it",
        ),
        (
            f"slices: [[item]], min_slice_rows: 5, {SLICE_GATE}",
            r"gates.slices\[0\].min_rows: must be >= evaluate.min_slice_rows \(5\), got 0",
        ),
        (GATE, "evaluate.gates.reference: needs evaluate.reference"),
        ("reference: serving/7", "evaluate.reference: no gate uses it"),
        ("tfma_metrics: [auc]", r"evaluate.tfma_metrics\[0\]: must match"),
    ],
)
def test_faults_name_place_and_remedy(
    tmp_path: Path, evaluate: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load(config=write(tmp_path, evaluate))


@pytest.mark.engine
def test_a_missing_reference_stops_before_anything_runs(tmp_path: Path) -> None:
    from pipeline.observer import Silent
    from pipeline.run import run

    config = load(config=write(tmp_path, f"reference: serving/7, {GATE}"))
    with pytest.raises(ConfigError, match=r"serving/7: no SavedModel here; name a"):
        run(config, str(tmp_path), tmp_path / "runs", Silent())
    assert not (tmp_path / "runs").exists()


def test_a_gate_on_gauc_needs_users(tmp_path: Path) -> None:
    path = write(tmp_path, "gates: {overall: {gauc: {min: 0.5}}}")
    path.write_text(path.read_text().replace(", user_id: user", ""))
    with pytest.raises(ConfigError, match=r"gates.overall.gauc: needs data.keys.user"):
        load(config=path)

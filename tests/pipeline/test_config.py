"""A pipeline's file: presets load, paths are relative to it, faults are named."""

from pathlib import Path

import pytest

from data.errors import ConfigError
from pipeline.config import PipelineConfig, load
from pipeline.preset_files import preset_names

MINIMAL = """
name: mine
data:
  keys: {label: click, user_id: user}
  split: {by: hash, columns: [user]}
  features:
    - {name: item, kind: categorical, buckets: 10}
"""


def write(folder: Path, extra: str = "") -> Path:
    path = folder / "mine.yaml"
    path.write_text(MINIMAL + extra)
    return path


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_loads_and_has_gates(name: str) -> None:
    config = load(preset=name)
    assert config.evaluate.gates.overall, "a model without gates is never blessed"


def test_defaults_fill_what_a_file_leaves_out(tmp_path: Path) -> None:
    config = load(config=write(tmp_path))
    assert (config.model.name, config.train.epochs) == ("dcn_v2", 1)


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    config = load(config=write(tmp_path, "input: logs\nschema: my/schema.pbtxt\n"))
    assert config.input == str(tmp_path / "logs")
    assert config.schema_file == str(tmp_path / "my/schema.pbtxt")


def test_remote_paths_stay_as_they_are(tmp_path: Path) -> None:
    config = load(config=write(tmp_path, "input: gs://bucket/logs\n"))
    assert config.input == "gs://bucket/logs"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("model: {name: dnc_v2}\n", "model.name: unknown model 'dnc_v2'.*'dcn_v2'"),
        (
            "evaluate: {slices: [[itm]]}\n",
            r"evaluate.slices\[0\]: no column 'itm'.*'item'",
        ),
        (
            "packing: {compression: snappy}\n",
            "packing.compression: must be one of gzip, none, got 'snappy'",
        ),
        ("trian: {epochs: 2}\n", "unknown key 'trian'. Did you mean 'train'"),
        ("train: {epochs: 0}\n", "train.epochs: must be >= 1, got 0"),
        (
            "evaluate: {gates: {overall: {guac: {min: 0.5}}}}\n",
            "unknown metric 'guac'.*'gauc'",
        ),
    ],
)
def test_faults_name_place_and_remedy(tmp_path: Path, extra: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(config=write(tmp_path, extra))


def test_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown preset 'movielns'.*'movielens'"):
        load(preset="movielns")


def test_one_source_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="either --config FILE or --preset NAME"):
        load()
    with pytest.raises(ConfigError, match="either --config FILE or --preset NAME"):
        load(config=write(tmp_path), preset="demo")


def test_json_schema_describes_the_file() -> None:
    schema = PipelineConfig.model_json_schema()
    assert set(schema["required"]) == {"name", "data"}
    assert schema["additionalProperties"] is False


def test_example_of_the_readme_is_a_valid_pipeline(tmp_path: Path) -> None:
    readme = Path(__file__).parents[2] / "README.md"
    blocks = readme.read_text("utf-8").split("```yaml\n")[1:]
    assert blocks
    for block in blocks:
        path = tmp_path / "readme.yaml"
        path.write_text(block.split("```")[0])
        config = load(config=path)
        assert config.evaluate.gates.overall


def test_gates_of_the_documentation_are_valid() -> None:
    import yaml

    from components.gates_config import GatesConfig

    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text("utf-8")
    block = text.split("```yaml\n")[1].split("```")[0]
    gates = yaml.safe_load(block)["evaluate"]["gates"]
    parsed = GatesConfig.model_validate(gates)
    assert parsed.overall["gauc"].min_change == -0.002
    assert parsed.slices[0].min_clicks == 500


@pytest.mark.parametrize(
    ("evaluate", "message"),
    [
        ("{slices: [[]]}", "must name a column"),
        ("{slices: [[item, item]]}", "must differ"),
        ("{slices: [[click]]}", "'click' is the label"),
        ("{slices: [[price]]}", "'price' holds decimals"),
        ("{slices: [[kind]]}", "Slices name columns of the log: 'item_kind'"),
        ("{user_weight: weight}", "'weight' needs keys.weight"),
        (
            "{slices: [[item]], gates: {slices: "
            "[{slice: [zz], metrics: {gauc: {min: 0.5}}}]}}",
            r"gates.slices\[0\].slice: \['zz'\] is not among evaluate.slices",
        ),
        ("{gates: {overall: {gauc: {min: .nan}}}}", "min: must be a finite number"),
        (
            "{gates: {overall: {gauc: {min: true}}}}",
            "gauc.min: must be a number, got True",
        ),
    ],
)
def test_evaluation_that_cannot_work_is_refused(
    tmp_path: Path, evaluate: str, message: str
) -> None:
    more = (
        "    - {name: price, kind: numeric}\n"
        "    - {name: kind, column: item_kind, kind: categorical, buckets: 9}\n"
    )
    with pytest.raises(ConfigError, match=message):
        load(config=write(tmp_path, f"{more}evaluate: {evaluate}\n"))


@pytest.mark.parametrize(
    ("split", "keys", "monitor", "message"),
    [
        (
            "{by: hash, columns: [user]}",
            "{label: click, user_id: user}",
            "gauc",
            "train.validation.monitor: 'gauc' needs validation rows; "
            "set data.split.validate_fraction",
        ),
        (
            "{by: time, eval_days: 1}",
            "{label: click, timestamp: t}",
            "log_loss",
            "'log_loss' needs validation rows; set data.split.validate_days or",
        ),
        (
            "{by: hash, columns: [item], validate_fraction: 0.1}",
            "{label: click}",
            "gauc",
            "train.validation.monitor: 'gauc' needs data.keys.user_id",
        ),
    ],
)
def test_early_stopping_needs_what_it_watches(
    tmp_path: Path, split: str, keys: str, monitor: str, message: str
) -> None:
    text = MINIMAL.replace("{by: hash, columns: [user]}", split)
    text = text.replace("{label: click, user_id: user}", keys)
    path = tmp_path / "mine.yaml"
    path.write_text(text + f"train: {{validation: {{monitor: {monitor}}}}}\n")
    with pytest.raises(ConfigError, match=message):
        load(config=path)


def test_early_stopping_with_validation_rows_is_fine(tmp_path: Path) -> None:
    text = MINIMAL.replace("columns: [user]", "columns: [user], validate_fraction: 0.1")
    path = tmp_path / "mine.yaml"
    path.write_text(text + "train: {validation: {monitor: gauc, patience: 2}}\n")
    config = load(config=path)
    assert config.train.validation.patience == 2
    assert config.data.split_names == ("train", "validate", "eval")


def test_unknown_key_is_told_by_its_name_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'schema'") as caught:
        load(config=write(tmp_path, "schem: x\n"))
    assert "schema_file" not in str(caught.value)

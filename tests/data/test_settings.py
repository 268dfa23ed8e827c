"""Faults in a configuration are named with their path and the nearest known key."""

from pathlib import Path
from typing import Any

import pytest

from data.dataset import Dataset
from data.errors import ConfigError
from data.settings import Columns, Settings, parse, read_yaml, to_yaml


def good() -> dict[str, Any]:
    """The smallest declaration with a feature of two kinds."""
    return {
        "keys": {"label": "click", "user_id": "user"},
        "split": {"by": "hash", "columns": ["user"]},
        "features": [
            {"name": "item", "kind": "categorical", "buckets": 10},
            {
                "name": "hist",
                "kind": "sequence",
                "vocabulary_of": "item",
                "max_length": 5,
            },
        ],
    }


def fault(content: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(Dataset, content, "x.yaml")
    return str(caught.value)


def test_bound_names_path_rule_and_value() -> None:
    content = good()
    content["features"][0]["buckets"] = 1
    assert fault(content) == "x.yaml: features[0].buckets: must be >= 2, got 1"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("embedding_dim", 0, "must be >= 1 or auto, got 0"),
        ("embedding_dim", "atuo", "must be >= 1 or auto, got 'atuo'"),
        ("hashes", 5, "must be <= 4, got 5"),
    ],
)
def test_a_width_or_number_of_hashes_out_of_range_is_one_line(
    key: str, value: Any, message: str
) -> None:
    content = good()
    content["features"][0][key] = value
    assert fault(content) == f"x.yaml: features[0].{key}: {message}"


@pytest.mark.parametrize(
    ("place", "key", "hint"),
    [
        (("features", 0), "bucket", "buckets"),
        (("keys",), "usr_id", "user_id"),
        (("split",), "colums", "columns"),
        ((), "feature", "features"),
    ],
)
def test_unknown_key_is_refused_with_the_nearest_known_one(
    place: tuple[Any, ...], key: str, hint: str
) -> None:
    content = good()
    target: Any = content
    for part in place:
        target = target[part]
    target[key] = 1
    lines = [line for line in fault(content).splitlines() if "unknown key" in line]
    assert len(lines) == 1
    assert f"unknown key '{key}'. Did you mean '{hint}'?" in lines[0]


def test_unknown_kind_lists_the_kinds_and_the_nearest() -> None:
    content = good()
    content["features"][0]["kind"] = "categorial"
    message = fault(content)
    assert "features[0].kind: must be one of categorical" in message
    assert message.endswith("got 'categorial'. Did you mean 'categorical'?")


def test_unknown_choice_names_the_nearest() -> None:
    content = good()
    content["features"][0]["encoding"] = "hsh"
    assert "features[0].encoding" in fault(content)
    assert fault(content).endswith("Did you mean 'hash'?")


def test_missing_key_is_named() -> None:
    content = good()
    del content["features"][1]["max_length"]
    assert fault(content) == "x.yaml: features[1].max_length: required, but absent"


def test_every_fault_has_a_line_of_its_own() -> None:
    content = good()
    content["features"][0]["buckets"] = 0
    content["features"][1]["max_length"] = 0
    assert len(fault(content).splitlines()) == 2


def test_yaml_faults_name_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: 1\nb: [1\n")
    with pytest.raises(ConfigError, match=r"c\.yaml:3:1: not valid YAML"):
        read_yaml(path)


def test_repeated_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: 1\na: 2\n")
    with pytest.raises(ConfigError, match="key 'a' given twice"):
        read_yaml(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 3000, ": not valid YAML: maximum recursion depth"),
        ("a: 2020-99-99", ": not valid YAML: month must be in 1..12"),
        ("a: " + "9" * 5000, ": not valid YAML: Exceeds the limit"),
        (
            "a: &a {b: 1}\nc:\n  <<: *a\n",
            ":3:3: not valid YAML: merge keys (<<) are not read; write the keys out",
        ),
    ],
)
def test_text_that_python_cannot_hold_is_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}{message}")
    assert "\n" not in str(caught.value)


def test_object_tags_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: !!python/object/apply:os.getcwd []\n")
    with pytest.raises(ConfigError, match="not valid YAML"):
        read_yaml(path)


def test_absent_and_empty_files_say_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such configuration file"):
        read_yaml(tmp_path / "no.yaml")
    empty = tmp_path / "e.yaml"
    empty.write_text("")
    with pytest.raises(ConfigError, match="mapping at the top, found nothing"):
        read_yaml(empty)


def test_only_true_and_false_are_booleans(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("on: user\nlabels: [yes, no, true, False]\n")
    assert read_yaml(path) == {"on": "user", "labels": ["yes", "no", True, False]}


def test_a_value_in_place_of_a_group_is_no_mapping() -> None:
    content = good() | {"keys": ["click"] * 100}
    message = fault(content)
    assert message.startswith("x.yaml: keys: must be a mapping, got ['click', ")
    assert len(message) < 150


def test_keys_and_values_of_a_file_stay_in_one_short_line() -> None:
    message = fault(good() | {"a\n\x1b[31m" + "b" * 1_000: 1})
    assert message.isprintable()
    assert "unknown key 'a\\n\\x1b[31mbbb" in message
    assert fault(good() | {"shards": "9" * 1_000}).endswith("999...")


@pytest.mark.parametrize(
    ("place", "key", "value", "message"),
    [
        ((), "shards", True, "shards: must be a whole number, got True"),
        ((), "shards", "4", "shards: must be a whole number, got '4'"),
        ((), "shards", 4.5, "shards: must be a valid integer"),
        (
            (),
            "max_bad_fraction",
            "0.5",
            "max_bad_fraction: must be a number, got '0.5'",
        ),
        (("features", 0), "hashes", False, "hashes: must be a whole number, got False"),
        (("features", 2), "z_score", 1, "z_score: must be true or false, got 1"),
        (
            ("features", 2),
            "z_score",
            "yes",
            "z_score: must be true or false, got 'yes'",
        ),
        (("features", 2), "name", 7, "name: must be text, got 7"),
        (("features", 2), "default", float("inf"), "default: must be a finite number"),
        (
            ("features", 2),
            "clip",
            [0, float("nan")],
            "clip[1]: must be a finite number",
        ),
    ],
)
def test_a_value_of_another_kind_is_not_converted(
    place: tuple[Any, ...], key: str, value: Any, message: str
) -> None:
    content = good()
    content["features"].append({"name": "price", "kind": "numeric"})
    target: Any = content
    for part in place:
        target = target[part]
    target[key] = value
    assert message in fault(content)


def test_whole_numbers_are_numbers_and_a_side_of_clip_may_be_open() -> None:
    content = good()
    content["max_bad_fraction"] = 1
    content["shards"] = 1e3
    content["features"].append({"name": "p", "kind": "numeric", "clip": [0, None]})
    dataset = parse(Dataset, content, "x.yaml")
    assert (dataset.max_bad_fraction, dataset.shards) == (1.0, 1000)
    # As settings travel to the components.
    assert Dataset.model_validate_json(dataset.model_dump_json()) == dataset


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-1_000", -1000),
        ("1e-3", 0.001),
        ("1.5e+3", 1500.0),
        (".5", 0.5),
        ("2.", 2.0),
        ("-.inf", float("-inf")),
        ("true", True),
        ("010", "010"),
        ("1:30", "1:30"),
        ("0x1F", "0x1F"),
        ("yes", "yes"),
        ("1e", "1e"),
        (".", "."),
        ("+", "+"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_scalars_are_read_as_yaml_1_2_reads_them(
    tmp_path: Path, text: str, value: Any
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"key: {text}\n")
    found = read_yaml(path)["key"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"carry": ["a", "b", "a"]}, "carry: 'a' named twice"),
        ({"carry": ["a"], "ignored": ["a"]}, "ignored: 'a' is kept by carry"),
        (
            {"split": {"by": "hash", "columns": ["user", "click"]}},
            "split.columns: 'click' is the label's column",
        ),
        (
            {"split": {"by": "given", "train": "*.csv", "eval": "*.csv"}},
            "split: train, eval and validation must name different files",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    changes: dict[str, Any], message: str
) -> None:
    assert message in fault(good() | changes)


def test_a_single_column_may_stand_without_brackets() -> None:
    class Sliced(Settings):
        slices: tuple[Columns, ...]

    content = {"slices": ["device", ["device", "hour"]]}
    assert Sliced.model_validate(content).slices == (("device",), ("device", "hour"))
    item = Sliced.model_json_schema()["properties"]["slices"]["items"]
    assert {one["type"] for one in item["anyOf"]} == {"string", "array"}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    texts = ["1e3", "1.5", "010", "true", "yes", "~", "null", "a: b", "2024-01-01", ""]
    content = {"texts": texts, "numbers": [1, -2.5, 1e-3, 1e300], "flag": True}
    path = tmp_path / "x.yaml"
    path.write_text(to_yaml(content), "utf-8")
    assert read_yaml(path) == content

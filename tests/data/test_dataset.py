"""What a declaration refuses, and what derives from it."""

from typing import Any

import pytest
from pydantic import ValidationError

from data.columns import Column, shard_columns
from data.dataset import Dataset
from data.features import Numeric
from data.inputs import ModelInput, model_inputs, vocabularies
from data.packed import narrowest


def declare(features: list[dict[str, Any]], **rest: Any) -> Dataset:
    return Dataset.model_validate(
        {
            "keys": {"label": "click", "user_id": "user"},
            "split": {"by": "hash", "columns": ["user"]},
            "features": features,
        }
        | rest
    )


ITEM = {"name": "item", "kind": "categorical", "buckets": 10}


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([ITEM, ITEM], "'item' declared twice"),
        ([{"name": "a", "kind": "categorical"}], r"needs buckets \(>= 2\)"),
        (
            [
                {
                    "name": "a",
                    "kind": "categorical",
                    "encoding": "vocabulary",
                    "buckets": 5,
                }
            ],
            "takes max_size and min_count, not buckets",
        ),
        (
            [
                ITEM,
                {
                    "name": "c",
                    "kind": "cross",
                    "features": ["item", "itm"],
                    "buckets": 5,
                },
            ],
            r"features\[1\]\.features: no categorical feature 'itm'\. Did you mean 'item'",
        ),
        ([{"name": "a", "kind": "numeric", "clip": [2, 1]}], "low must be < high"),
        (
            [{"name": "a", "kind": "numeric", "boundaries": [2, 1]}],
            "boundaries must ascend",
        ),
        (
            [{"name": "a", "kind": "numeric", "boundaries": [1], "quantiles": 3}],
            "quantiles or boundaries, not both",
        ),
        ([ITEM | {"name": "x", "column": "click"}], "the model would see the answer"),
        (
            [ITEM | {"encoding": "identity", "hashes": 2}],
            "hashes: 2 needs encoding 'hash' with buckets of this feature",
        ),
        (
            [
                ITEM,
                {
                    "name": "h",
                    "kind": "sequence",
                    "vocabulary_of": "item",
                    "max_length": 2,
                    "hashes": 2,
                },
            ],
            "hashes: 2 needs encoding 'hash' with buckets of this feature",
        ),
    ],
)
def test_inconsistent_features_are_refused(
    features: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        declare(features)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ({"by": "time"}, "give eval_days or eval_fraction"),
        ({"by": "time", "eval_days": 1, "eval_fraction": 0.1}, "give eval_days or"),
        ({"by": "hash", "columns": []}, "at least 1 item"),
        (
            {"by": "time", "eval_days": 1, "validate_fraction": 0.1},
            "validate_fraction goes with eval_fraction",
        ),
        (
            {"by": "time", "eval_fraction": 0.1, "validate_days": 1},
            "validate_days goes with eval_days",
        ),
    ],
)
def test_inconsistent_splits_are_refused(split: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        declare([ITEM], split=split)


def test_every_layout_has_validation_rows_or_none_has() -> None:
    hashed = {"by": "hash", "columns": ["user"], "validate_fraction": 0.1}
    given = {"by": "given", "train": "a", "eval": "b"}
    with pytest.raises(
        ValidationError, match=r"layouts\[0\]\.split: must have a valid"
    ):
        declare([ITEM], split=hashed, layouts=[{"split": given}])
    both = declare(
        [ITEM], split=hashed, layouts=[{"split": {**given, "validation": "c"}}]
    )
    assert both.split_names == ("train", "validate", "eval")
    assert declare([ITEM]).split_names == ("train", "eval")


def test_a_number_of_shards_that_no_disk_takes_is_refused() -> None:
    assert declare([ITEM], shards=10_000).shards == 10_000
    with pytest.raises(ValidationError, match="less than or equal to 10000"):
        declare([ITEM], shards=10_001)


def test_derived_label_is_named_label_and_plain_one_keeps_its_column() -> None:
    plain = declare([ITEM])
    derived = declare([ITEM], keys={"label": {"column": "rating", "at_least": 4}})
    assert plain.keys.label_name == "click"
    assert derived.keys.label_name == "label"


def test_shard_columns_hold_keys_features_and_carried_columns_once() -> None:
    dataset = declare(
        [
            ITEM,
            {"name": "again", "kind": "categorical", "column": "item", "buckets": 5},
            {"name": "price", "kind": "numeric"},
            {
                "name": "slot",
                "kind": "categorical",
                "encoding": "identity",
                "buckets": 3,
            },
            {
                "name": "hist",
                "kind": "sequence",
                "vocabulary_of": "item",
                "max_length": 2,
            },
            {"name": "image", "kind": "vector", "length": 8},
            {"name": "user_id", "kind": "categorical", "column": "user", "buckets": 9},
        ],
        carry=["country", "item"],
    )
    assert shard_columns(dataset) == (
        Column(name="click", dtype="int64", required=True),
        Column(name="user", dtype="bytes", required=True),
        Column(name="item", dtype="bytes"),
        Column(name="price", dtype="float"),
        Column(name="slot", dtype="int64"),
        Column(name="hist", dtype="bytes", length=None),
        Column(name="image", dtype="float", length=8),
        Column(name="country", dtype="bytes"),
    )


def test_column_read_as_two_types_is_kept_as_text() -> None:
    dataset = declare([ITEM, {"name": "n", "kind": "numeric", "column": "item"}])
    assert shard_columns(dataset)[2] == Column(name="item", dtype="bytes")


def test_model_inputs_count_id_zero_and_share_tables() -> None:
    dataset = declare(
        [
            {
                "name": "item",
                "kind": "categorical",
                "encoding": "vocabulary",
                "oov_buckets": 2,
            },
            {
                "name": "hist",
                "kind": "sequence",
                "vocabulary_of": "item",
                "max_length": 4,
            },
            {
                "name": "hour",
                "kind": "categorical",
                "column": "ts",
                "derive": "hour_of_day",
            },
            {"name": "age", "kind": "numeric", "boundaries": [18, 30]},
            {"name": "price", "kind": "numeric"},
            {"name": "image", "kind": "vector", "length": 8},
            {"name": "x", "kind": "cross", "features": ["item", "hour"], "buckets": 50},
        ]
    )
    assert vocabularies(dataset) == ("item",)
    assert model_inputs(dataset, {"item": 7}) == (
        # 7 known values, 2 out of vocabulary, 1 for absent
        ModelInput(name="item", kind="id", table="item", vocabulary_size=10),
        ModelInput(name="hist", kind="ids", length=4, table="item", vocabulary_size=10),
        ModelInput(name="hour", kind="id", table="hour", vocabulary_size=25),
        # two boundaries make three buckets
        ModelInput(name="age", kind="id", table="age", vocabulary_size=4),
        ModelInput(name="price", kind="number"),
        ModelInput(name="image", kind="vector", length=8),
        ModelInput(name="x", kind="id", table="x", vocabulary_size=51),
    )


def test_ids_of_several_hashes_are_fingerprints_in_a_table_of_buckets() -> None:
    dataset = declare(
        [
            ITEM | {"hashes": 2, "embedding_dim": "auto"},
            {
                "name": "hist",
                "kind": "sequence",
                "vocabulary_of": "item",
                "max_length": 4,
            },
            {
                "name": "x",
                "kind": "cross",
                "features": ["item", "item2"],
                "buckets": 50,
                "hashes": 3,
            },
            ITEM | {"name": "item2"},
        ]
    )
    # Fingerprints are 1 .. 2^63 - 1, and 0 is absent.
    item = {"table": "item", "vocabulary_size": 2**63, "hashes": 2, "buckets": 10}
    item |= {"embedding_dim": "auto"}

    inputs = model_inputs(dataset, {})

    assert inputs == (
        ModelInput(name="item", kind="id", **item),
        ModelInput(name="hist", kind="ids", length=4, **item),
        ModelInput(
            name="x", kind="id", table="x", vocabulary_size=2**63, hashes=3, buckets=50
        ),
        ModelInput(name="item2", kind="id", table="item2", vocabulary_size=11),
    )
    assert [one.table_rows for one in inputs] == [11, 11, 51, 11]
    # Packed shards choose the type of a column by its largest id.
    assert narrowest(inputs[0].vocabulary_size - 1) == "int64"


def test_settings_are_frozen() -> None:
    feature = Numeric(name="a", kind="numeric")
    with pytest.raises(ValidationError):
        feature.default = 1.0


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"user_id": "click"}, "user_id: column 'click' is the label already"),
        ({"weight": "click"}, "weight: column 'click' is the label already"),
        (
            {"user_id": "u", "request_id": "u"},
            "request_id: column 'u' is the user_id already",
        ),
    ],
)
def test_column_has_one_role(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        declare([ITEM], keys={"label": "click"} | keys)


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ({"name": "u", "column": "user", "kind": "numeric"}, "the user_id, which must"),
        (
            {"name": "u", "column": "user", "kind": "vector", "length": 2},
            "categorical with encoding hash or vocabulary feature, got vector",
        ),
        (
            {
                "name": "user",
                "kind": "categorical",
                "encoding": "identity",
                "buckets": 5,
            },
            "the user_id, which must be",
        ),
        ({"name": "w", "kind": "categorical", "buckets": 5}, "the weight, which must"),
        (
            {"name": "click", "kind": "categorical", "column": "x", "buckets": 5},
            "'click' is the label's name",
        ),
        ({"name": "a", "kind": "categorical", "buckets": 10**30}, "less than or equal"),
        (
            {"name": "a", "kind": "categorical", "column": "", "buckets": 9},
            "at least 1 char",
        ),
        (
            {"name": "c", "kind": "cross", "features": ["item", "item"], "buckets": 5},
            "must differ from each other",
        ),
    ],
)
def test_features_that_cannot_work_are_refused(
    feature: dict[str, Any], message: str
) -> None:
    keys = {"label": "click", "user_id": "user", "weight": "w"}
    with pytest.raises(ValidationError, match=message):
        declare([ITEM, feature], keys=keys)

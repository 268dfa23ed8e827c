"""Transform's output for every kind of feature, worked out by hand."""

import math
import pickle
import tempfile
from typing import Any

import pytest

pytestmark = pytest.mark.engine

KEYS = {"label": "click", "user_id": "user", "weight": "w", "timestamp": "ts"}


def transform(
    features: list[dict[str, Any]], rows: list[dict[str, Any]], **split: Any
) -> list[dict]:
    """Runs ``preprocessing_fn`` in Beam over rows and returns the transformed rows."""
    import apache_beam as beam
    import tensorflow_transform.beam as tft_beam
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tensorflow_transform.tf_metadata import dataset_metadata

    from components.preprocessing import preprocessing_fn
    from components.schema_gen import declare
    from data.columns import shard_columns
    from data.dataset import Dataset

    dataset = Dataset.model_validate(
        {
            "keys": KEYS,
            "split": {"by": "hash", "columns": ["user"], **split},
            "features": features,
        }
    )
    config = {"dataset": dataset.model_dump_json()}
    schema = declare(dataset, schema_pb2.Schema())
    optional = {c.name: [] for c in shard_columns(dataset) if not c.required}
    keys = {"click": 0, "user": b"u", "w": 1.0, "ts": 0, **optional}
    runner = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"
    p = beam.Pipeline(runner)
    with tempfile.TemporaryDirectory() as folder, tft_beam.Context(temp_dir=folder):
        metadata = dataset_metadata.DatasetMetadata(schema)
        raw = p | beam.Create([{**keys, **row} for row in rows])
        (data, _), _ = (raw, metadata) | tft_beam.AnalyzeAndTransformDataset(
            lambda inputs: preprocessing_fn(inputs, config)
        )
        target = f"{folder}/rows.pickle"
        _ = data | beam.combiners.ToList() | beam.Map(save, target)
        p.run().wait_until_finish()
        with open(target, "rb") as file:
            collected = pickle.load(file)
    return sorted(collected, key=lambda row: row["_weight"])


def save(rows: Any, path: str) -> None:
    """Writes what a Beam worker holds to where the test can read it."""
    with open(path, "wb") as file:
        pickle.dump(rows, file)


def rows_of(name: str, values: list[Any]) -> list[dict[str, Any]]:
    """One row a value; the weight numbers the rows so that order can be restored."""
    return [
        {"w": float(i + 1)}
        | ({} if v is None else {name: v if isinstance(v, list) else [v]})
        for i, v in enumerate(values)
    ]


def column(name: str, out: list[dict]) -> list[Any]:
    return [
        row[name].tolist() if hasattr(row[name], "tolist") else row[name] for row in out
    ]


def test_keys_pass_through_under_reserved_names() -> None:
    out = transform(
        [{"name": "a", "kind": "categorical", "buckets": 5}],
        [{"click": 1, "w": 0.5, "a": [b"x"]}, {"click": 0, "w": 2.0, "a": [b"y"]}],
    )
    assert column("_label", out) == [1.0, 0.0]
    assert column("_weight", out) == [0.5, 2.0]


def test_user_is_hashed_for_validation_only() -> None:
    features = [{"name": "a", "kind": "categorical", "buckets": 5}]
    users = [b"7", b"007", b"7", b""]
    rows = [{"w": float(i), "user": user} for i, user in enumerate(users)]
    assert "_user" not in transform(features, rows)[0]

    seven, padded, again, empty = column(
        "_user", transform(features, rows, validate_fraction=0.1)
    )

    import tensorflow as tf

    # FarmHash fingerprint, which is the same in every version and process.
    digest = tf.fingerprint([b"7"], "farmhash64").numpy().tobytes()
    assert seven == again == int.from_bytes(digest, "little") % (2**63 - 1)
    assert padded not in {seven, empty}
    assert empty == -1


def test_hash_gives_same_id_to_same_text_and_zero_to_absent() -> None:
    out = transform(
        [{"name": "a", "kind": "categorical", "buckets": 1000}],
        rows_of("a", [b"7", b"007", b"7", None, b""]),
    )
    first, padded, again, absent, empty = column("a", out)
    assert first == again
    assert first != padded  # 1000 buckets: these two do not collide
    assert (absent, empty) == (0, 0)
    assert all(1 <= value <= 1000 for value in (first, padded))


def test_several_hashes_get_one_fingerprint_to_start_from() -> None:
    import tensorflow as tf

    feature = {"kind": "categorical", "buckets": 3, "hashes": 2}
    rows = [{"w": 1.0, "a": [b"7"], "b": [b"7"]}, {"w": 2.0, "a": [b"7"]}]
    out = transform(
        [
            feature | {"name": "a"},
            feature | {"name": "b"},
            {
                "name": "c",
                "kind": "cross",
                "features": ["a", "b"],
                "buckets": 3,
                "hashes": 2,
            },
        ],
        rows,
    )

    def fingerprint(text: str) -> int:
        # FarmHash, which is the same in every version and process.
        digest = tf.fingerprint([text], "farmhash64").numpy().tobytes()
        return 1 + int.from_bytes(digest, "little") % (2**63 - 1)

    seven = fingerprint("7")
    assert column("a", out) == [seven, seven]
    assert column("b", out) == [seven, 0]
    assert column("c", out) == [fingerprint(f"{seven}x{seven}"), 0]


def test_vocabulary_orders_by_count_and_sends_rare_values_to_oov() -> None:
    # x three times, y twice, z once. min_count 2 keeps x (id 1) and y (id 2); the one
    # out-of-vocabulary bucket is id 3.
    out = transform(
        [
            {
                "name": "a",
                "kind": "categorical",
                "encoding": "vocabulary",
                "min_count": 2,
            }
        ],
        rows_of("a", [b"x", b"y", b"x", b"z", b"x", b"y", None]),
    )
    assert column("a", out) == [1, 2, 1, 3, 1, 2, 0]


def test_identity_shifts_by_one_and_refuses_values_outside() -> None:
    out = transform(
        [{"name": "a", "kind": "categorical", "encoding": "identity", "buckets": 4}],
        rows_of("a", [0, 3, 4, -1, None]),
    )
    assert column("a", out) == [1, 4, 0, 0, 0]


def test_sequence_keeps_last_ids_and_shares_the_vocabulary() -> None:
    # Item counts: x 2, y 1 -> x is 1, y is 2; q never was an item, so it is OOV id 3.
    rows = [
        {"w": 1.0, "item": [b"x"], "hist": [b"y", b"x", b"q"]},
        {"w": 2.0, "item": [b"y"], "hist": [b"x"]},
        {"w": 3.0, "item": [b"x"]},
    ]
    out = transform(
        [
            {"name": "item", "kind": "categorical", "encoding": "vocabulary"},
            {
                "name": "hist",
                "kind": "sequence",
                "vocabulary_of": "item",
                "max_length": 2,
            },
        ],
        rows,
    )
    assert column("item", out) == [1, 2, 1]
    assert column("hist", out) == [[1, 3], [1, 0], [0, 0]]


def test_sequence_keeps_first_ids_when_asked() -> None:
    out = transform(
        [
            {
                "name": "s",
                "kind": "sequence",
                "encoding": "identity",
                "buckets": 9,
                "max_length": 2,
                "keep": "first",
            }
        ],
        rows_of("s", [[5, 6, 7]]),
    )
    assert column("s", out) == [[6, 7]]


def test_numeric_steps_run_in_the_stated_order() -> None:
    # default 2 -> clip to [0, 10] -> log(1 + x)
    out = transform(
        [
            {
                "name": "n",
                "kind": "numeric",
                "default": 2.0,
                "clip": [0, 10],
                "log1p": True,
                "z_score": False,
            }
        ],
        rows_of("n", [-5.0, 3.0, 99.0, None]),
    )
    expected = [math.log1p(x) for x in (0, 3, 10, 2)]
    assert column("n", out) == pytest.approx(expected, rel=1e-6)


def test_z_score_uses_mean_and_population_deviation() -> None:
    # mean 2, variance ((1-2)^2 + 0 + (3-2)^2) / 3 = 2/3
    out = transform([{"name": "n", "kind": "numeric"}], rows_of("n", [1.0, 2.0, 3.0]))
    deviation = math.sqrt(2 / 3)
    expected = [-1 / deviation, 0.0, 1 / deviation]
    assert column("n", out) == pytest.approx(expected, abs=1e-6)


def test_boundaries_give_the_bucket_from_one() -> None:
    # below 1 | [1, 5) | 5 and above
    out = transform(
        [{"name": "n", "kind": "numeric", "boundaries": [1.0, 5.0]}],
        rows_of("n", [0.5, 1.0, 4.9, 5.0]),
    )
    assert column("n", out) == [1, 2, 2, 3]


def test_quantiles_split_rows_into_equal_halves() -> None:
    out = transform(
        [{"name": "n", "kind": "numeric", "quantiles": 2}],
        rows_of("n", [float(i) for i in range(10)]),
    )
    ids = column("n", out)
    assert ids == sorted(ids)
    assert set(ids) == {1, 2}
    assert 4 <= ids.count(1) <= 6


def test_vector_is_zero_where_absent() -> None:
    out = transform(
        [{"name": "v", "kind": "vector", "length": 3}],
        rows_of("v", [[1.0, 2.0, 3.0], None]),
    )
    assert column("v", out) == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]


def test_cross_differs_by_pair_and_is_zero_where_a_part_is_absent() -> None:
    rows = [
        {"w": 1.0, "a": [b"x"], "b": [b"y"]},
        {"w": 2.0, "a": [b"y"], "b": [b"x"]},
        {"w": 3.0, "a": [b"x"], "b": [b"y"]},
        {"w": 4.0, "a": [b"x"]},
    ]
    out = transform(
        [
            {"name": "a", "kind": "categorical", "buckets": 1000},
            {"name": "b", "kind": "categorical", "buckets": 1000},
            {"name": "c", "kind": "cross", "features": ["a", "b"], "buckets": 10_000},
        ],
        rows,
    )
    first, swapped, again, absent = column("c", out)
    assert first == again
    assert first != swapped
    assert absent == 0


def test_hour_and_weekday_come_from_unix_seconds() -> None:
    # 1970-01-01 00:00 was a Thursday (day 3 from Monday); 90,000 s later it is
    # Friday 01:00.
    out = transform(
        [
            {
                "name": "h",
                "kind": "categorical",
                "column": "ts",
                "derive": "hour_of_day",
            },
            {
                "name": "d",
                "kind": "categorical",
                "column": "ts",
                "derive": "day_of_week",
            },
        ],
        [{"w": 1.0, "ts": 0}, {"w": 2.0, "ts": 90_000}],
    )
    assert column("h", out) == [1, 2]
    assert column("d", out) == [4, 5]


def test_column_read_as_number_and_as_id_is_kept_as_text() -> None:
    out = transform(
        [
            {"name": "id", "kind": "categorical", "column": "p", "buckets": 50},
            {"name": "num", "kind": "numeric", "column": "p", "z_score": False},
        ],
        rows_of("p", [b"2.5", None]),
    )
    assert column("num", out) == [2.5, 0.0]
    assert column("id", out)[1] == 0

"""The exported model predicts the same from tf.Example rows and from named tensors."""

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.engine

# Columns whose names TensorFlow does not take for the inputs of a signature.
ITEM, PRICE = "item-id", "1st pr\u00e9is"
FEATURES = [
    {"name": "user", "kind": "categorical", "buckets": 50},
    {
        "name": "item",
        "column": ITEM,
        "kind": "categorical",
        "encoding": "vocabulary",
    },
    {"name": "hist", "kind": "sequence", "vocabulary_of": "item", "max_length": 3},
    {"name": "price", "column": PRICE, "kind": "numeric"},
    {"name": "image", "kind": "vector", "length": 2},
    {"name": "slot", "kind": "categorical", "encoding": "identity", "buckets": 4},
]
ROWS = [
    {"user": b"a", ITEM: [b"x"], "hist": [b"y"], PRICE: [1.0], "image": [0.5, 2.0]},
    {"user": b"b", ITEM: [b"y"], "hist": [b"x", b"y"], PRICE: [3.0], "slot": [2]},
    {"user": b"c", ITEM: [], "hist": [], PRICE: []},
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A loaded SavedModel whose logit is a known sum of the transformed inputs."""
    import apache_beam as beam
    import keras
    import tensorflow as tf
    import tensorflow_transform as tft
    import tensorflow_transform.beam as tft_beam
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tensorflow_transform.tf_metadata import dataset_metadata, metadata_io

    from components.preprocessing import preprocessing_fn
    from components.schema_gen import declare
    from components.signatures import export
    from data.columns import shard_columns
    from data.dataset import Dataset

    folder = tmp_path_factory.mktemp("model")
    dataset = Dataset.model_validate(
        {
            "keys": {"label": "click", "user_id": "user"},
            "split": {"by": "hash", "columns": ["user"]},
            "features": FEATURES,
        }
    )
    optional = {c.name: [] for c in shard_columns(dataset) if not c.required}
    metadata = dataset_metadata.DatasetMetadata(declare(dataset, schema_pb2.Schema()))
    config = {"dataset": dataset.model_dump_json()}
    p = beam.Pipeline("apache_beam.runners.portability.fn_api_runner.FnApiRunner")
    with tft_beam.Context(temp_dir=str(folder / "tmp")):
        rows = p | beam.Create([{"click": 0, **optional, **row} for row in ROWS])
        fn = (rows, metadata) | tft_beam.AnalyzeDataset(
            lambda inputs: preprocessing_fn(inputs, config)
        )
        _ = fn | tft_beam.WriteTransformFn(str(folder / "transform"))
        p.run().wait_until_finish()
    # The Transform component also keeps the schema of the raw rows.
    metadata_io.write_metadata(metadata, str(folder / "transform" / "metadata"))

    shapes = {"hist": (3,), "image": (2,)}
    inputs = {
        f["name"]: keras.Input(
            shapes.get(f["name"], ()),
            name=f["name"],
            dtype="float32" if f["kind"] in {"numeric", "vector"} else "int64",
        )
        for f in FEATURES
    }
    parts = []
    for name, tensor in inputs.items():
        value = keras.ops.cast(tensor, "float32")
        if name in shapes:
            value = keras.ops.sum(value, axis=1)
        # The hashed user id is large; a tenth keeps the sigmoid away from 1.
        parts.append(
            keras.ops.reshape(value, (-1, 1)) * (0.01 if name == "user" else 0.1)
        )
    model = keras.Model(inputs, keras.layers.Add()(parts))
    export(
        model,
        tft.TFTransformOutput(str(folder / "transform")),
        dataset,
        str(folder / "saved"),
    )
    return tf.saved_model.load(str(folder / "saved"))


def example(row: dict[str, Any]) -> bytes:
    import tensorflow as tf

    built = tf.train.Example()
    for name, value in row.items():
        values = value if isinstance(value, list) else [value]
        if not values:
            continue
        feature = built.features.feature[name]
        if isinstance(values[0], bytes):
            feature.bytes_list.value.extend(values)
        elif isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        else:
            feature.float_list.value.extend(values)
    return built.SerializeToString()


def predict(exported: Any, rows: list[dict[str, Any]]) -> np.ndarray:
    import tensorflow as tf

    signature = exported.signatures["serving_default"]
    examples = tf.constant([example(row) for row in rows])
    return signature(examples=examples)["prediction"].numpy()


def test_prediction_is_one_probability_a_row(exported: Any) -> None:
    out = predict(exported, ROWS)
    assert out.shape == (3,)
    assert out.dtype == np.float32
    assert ((out > 0) & (out < 1)).all()


def test_prediction_is_the_sigmoid_of_the_transformed_inputs(exported: Any) -> None:
    # Row b against row c, both with the hash of their user: b has item y, hist (x, y),
    # price 3 and slot 2; c has nothing. x and y occur once each, so their ids are 1 and
    # 2 in some order: hist sums to 3. Prices of the training rows are 1, 3 and the
    # default 0, with mean 4/3 and population variance 14/9.
    import tensorflow as tf

    b, c = (np.log(p / (1 - p)) for p in predict(exported, ROWS)[1:])
    users = [int(tf.strings.to_hash_bucket_fast([u], 50)[0]) + 1 for u in (b"b", b"c")]
    z_b, z_c = ((price - 4 / 3) / np.sqrt(14 / 9) for price in (3, 0))
    rest = b - c - 0.01 * (users[0] - users[1]) - 0.1 * (z_b - z_c)
    item_ids = [0.1 * (item + 3 + 3) for item in (1, 2)]  # item y, hist, slot 2 -> 3
    assert min(abs(rest - value) for value in item_ids) < 1e-5


def test_rows_of_a_batch_do_not_influence_each_other(exported: Any) -> None:
    together = predict(exported, ROWS)
    alone = np.concatenate([predict(exported, [row]) for row in ROWS])
    np.testing.assert_array_equal(together, alone)


def test_named_tensors_give_the_same_prediction(exported: Any) -> None:
    import tensorflow as tf

    signature = exported.signatures["named_tensors"]
    out = signature(
        user=tf.constant([b"a", b"b"]),
        item_id=tf.constant([b"x", b"y"]),
        hist=tf.constant([[b"y", b""], [b"x", b"y"]]),
        column_1st_pr_is=tf.constant([1.0, 3.0]),
        image=tf.constant([[0.5, 2.0], [0.0, 0.0]]),
        slot=tf.constant([-1, 2], tf.int64),
    )["prediction"].numpy()
    np.testing.assert_allclose(out, predict(exported, ROWS)[:2], rtol=1e-6)


def test_request_without_user_or_with_unseen_values_still_predicts(
    exported: Any,
) -> None:
    out = predict(exported, [{"item": [b"never seen"]}, {}])
    assert np.isfinite(out).all()


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((), [7, 0]), ((1,), [[7], [0]]), ((2,), [[7, 8], [0, 0]])],
)
def test_required_columns_get_the_shape_that_the_schema_fixes(
    shape: tuple[int, ...], expected: list[Any]
) -> None:
    # An inferred or curated schema may fix [], [1] or, for a vector, [n].
    import tensorflow as tf

    from components.signatures import _as_transform_reads

    class Transform:
        def raw_feature_spec(self) -> dict[str, Any]:
            return {"x": tf.io.FixedLenFeature(shape, tf.int64)}

    column = tf.sparse.from_dense(tf.constant([[7, 8], [0, 0]], tf.int64))
    if shape != (2,):
        column = tf.sparse.from_dense(tf.constant([[7], [0]], tf.int64))
    read = _as_transform_reads({"x": column}, Transform())["x"]
    assert read.numpy().tolist() == expected

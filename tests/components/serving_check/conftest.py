"""Small SavedModels, sound and faulty ones, and the rows that they are asked about."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ITEMS = (b"apple", b"pear")
ROWS: list[dict[str, Any]] = [
    {"item": [b"apple"], "price": [1.0], "slot": [2], "history": [b"x", b"y"]},
    {"item": [b"pear"], "price": [-0.5], "slot": [7], "history": [b"x"]},
    {"item": [b"pear"], "price": [0.25], "slot": [1], "history": []},
    {"item": [b"apple"], "price": [], "slot": [], "history": [b"z", b"x", b"x"]},
]


def example(row: dict[str, list[Any]]) -> bytes:
    """A row as a serialized tf.Example; empty lists are left out."""
    import tensorflow as tf

    built = tf.train.Example()
    for name, values in row.items():
        feature = built.features.feature[name] if values else None
        if values and isinstance(values[0], bytes):
            feature.bytes_list.value.extend(values)
        elif values and isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        elif values:
            feature.float_list.value.extend(values)
    return built.SerializeToString()


def probability(row: dict[str, list[Any]]) -> float:
    """What the sound model predicts, in plain Python."""
    logit = ITEMS.index(row["item"][0]) + sum(row["price"])
    logit += 0.1 * len(row["history"])
    # Slots from 0 to 4 are known; an absent one is none of them.
    logit += sum(0.5 for slot in row["slot"] if 0 <= slot < 5)
    return 1 / (1 + math.exp(-logit))


def save(
    folder: Path,
    *,
    nan_for_unseen: bool = False,
    infinity_passes: bool = False,
    item_required: bool = False,
    nan_alone: bool = False,
    neighbours: float = 0.0,
    tensors_shift: float = 0.0,
) -> str:
    """Exports the model with both signatures, with faults where they are asked for."""
    import tensorflow as tf

    def predict(item, price, slot, history_length, shift=0.0):
        unseen = float("nan") if nan_for_unseen else 0.0
        number = tf.where(tf.math.is_nan(price), 0.0, price)
        if not infinity_passes:
            number = tf.where(tf.math.is_finite(number), number, 0.0)
        logit = tf.where(item == "pear", 1.0, tf.where(item == "apple", 0.0, unseen))
        logit += number - (number - number)  # NaN where infinite
        logit += 0.5 * tf.cast((slot >= 0) & (slot < 5), tf.float32)
        logit += 0.1 * tf.cast(history_length, tf.float32) + shift
        logit += neighbours * tf.reduce_sum(number)
        if nan_alone:
            logit = tf.where(tf.size(price) == 1, float("nan"), logit)
        return {"prediction": tf.sigmoid(logit)}

    absent = {"item": (tf.string, ""), "price": (tf.float32, 0.0)}
    specs = {
        name: tf.io.FixedLenFeature([], dtype, default)
        for name, (dtype, default) in absent.items()
    }
    if item_required:
        specs["item"] = tf.io.FixedLenFeature([], tf.string)
    specs["slot"] = tf.io.FixedLenFeature([], tf.int64, -1)
    specs["history"] = tf.io.RaggedFeature(tf.string)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def serving_default(examples):
        row = tf.io.parse_example(examples, specs)
        lengths = row["history"].row_lengths()
        return predict(row["item"], row["price"], row["slot"], lengths)

    inputs = {
        "item": tf.TensorSpec([None], tf.string, name="item"),
        "price": tf.TensorSpec([None], tf.float32, name="price"),
        "slot": tf.TensorSpec([None], tf.int64, name="slot"),
        "history": tf.TensorSpec([None, None], tf.string, name="history"),
    }

    @tf.function(input_signature=[inputs])
    def named_tensors(row):
        lengths = tf.reduce_sum(tf.cast(row["history"] != "", tf.int64), axis=1)
        return predict(row["item"], row["price"], row["slot"], lengths, tensors_shift)

    module = tf.Module()
    signatures = {"serving_default": serving_default, "named_tensors": named_tensors}
    tf.saved_model.save(module, str(folder), signatures=signatures)
    return str(folder)


@pytest.fixture
def rows() -> list[bytes]:
    """The rows, serialized."""
    return [example(row) for row in ROWS]


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., str]:
    """Exports a model; see ``save``."""
    return lambda **faults: save(tmp_path / "model", **faults)

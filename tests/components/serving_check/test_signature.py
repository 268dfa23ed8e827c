"""A signature is fed as a client would feed it, and its answers are looked at."""

import numpy as np
import pytest
import tensorflow as tf

from components.serving_check.columns import absent_columns, request_columns
from components.serving_check.signature import PREDICTION, Signature, fault_of
from tests.components.serving_check.conftest import ROWS, example, probability


@pytest.fixture
def signatures(saved):
    loaded = tf.saved_model.load(saved())
    return {name: Signature(name, one) for name, one in loaded.signatures.items()}


@pytest.mark.parametrize("name", ["serving_default", "named_tensors"])
def test_both_ways_to_send_rows_give_what_the_model_computes(signatures, name, rows):
    expected = [probability(row) for row in ROWS]
    np.testing.assert_allclose(signatures[name].predict(rows), expected, rtol=1e-6)


def test_the_inputs_say_how_rows_are_sent(signatures):
    assert signatures["serving_default"].takes_examples
    assert not signatures["named_tensors"].takes_examples


def test_lists_are_padded_behind_and_absent_values_stand_for_none(signatures):
    feed = signatures["named_tensors"].feed([example(ROWS[0]), example(ROWS[3])])
    assert feed["history"].numpy().tolist() == [[b"x", b"y", b""], [b"z", b"x", b"x"]]
    assert feed["slot"].numpy().tolist() == [2, -1]
    assert np.isnan(feed["price"].numpy()).tolist() == [False, True]


def test_vectors_are_cut_or_filled_with_zeros():
    class Function:
        structured_input_signature = ((), {"image": tf.TensorSpec([None, 2])})

    rows = [example({"image": image}) for image in ([], [1.0], [1.0, 2.0, 3.0])]
    feed = Signature("s", Function()).feed(rows)
    assert feed["image"].numpy().tolist() == [[0, 0], [1, 0], [1, 2]]


def test_inputs_take_columns_whose_names_tensorflow_changes():
    class Function:
        structured_input_signature = (
            (),
            {
                "item_id": tf.TensorSpec([None], tf.string),
                "other": tf.TensorSpec([None], tf.int64),
            },
        )

    rows = [example({"item-id": [b"x"], "other": [1]}), example({"other": [1]})]
    signature = Signature("s", Function())
    assert signature.feed(rows)["item_id"].numpy().tolist() == [b"x", b""]
    column, _ = request_columns([signature], rows)
    assert (column.name, column.optional) == ("item-id", True)
    assert absent_columns(["item_id"], rows) == []
    assert absent_columns(["item_id"], rows[1:]) == ["item_id"]


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ({"prediction": 1, "logit": 1}, "prediction"),
        ({"score": 1}, "score"),
        ({"logit": 1, "embedding": 1}, None),
    ],
)
def test_the_prediction_is_found_by_its_name_or_as_the_only_output(outputs, expected):
    class Function:
        structured_input_signature = ((), {})
        structured_outputs = outputs

    assert Signature("s", Function()).output == expected


@pytest.mark.parametrize(
    ("predictions", "fault"),
    [
        ([0.0, 1.0], None),
        ([[0.5], [0.5]], None),
        ([0.5], "shape [1] for 2 rows"),
        ([[0.1, 0.2], [0.3, 0.4]], "shape [2, 2] for 2 rows"),
        ([0.5, np.nan], "not finite"),
        ([0.5, np.inf], "not finite"),
        ([0.5, 1.5], "outside [0, 1]"),
        ([-0.1, 0.5], "outside [0, 1]"),
    ],
)
def test_faults_of_predictions(predictions, fault):
    assert fault_of(np.array(predictions), 2) == fault


@pytest.mark.engine
def test_the_output_has_the_name_that_our_export_gives():
    from components import signatures

    assert signatures.PREDICTION == PREDICTION

"""Which odd requests are made, and which of them must be answered."""

import tensorflow as tf

from components.serving_check.cases import MANY, cases
from components.serving_check.columns import (
    RequestColumn,
    absent_columns,
    request_columns,
)
from components.serving_check.signature import Signature
from tests.components.serving_check.conftest import ROWS, example

COLUMNS = {
    "history": RequestColumn("history", "bytes", None, True, False),
    "item": RequestColumn("item", "bytes", 0, False, False),
    "price": RequestColumn("price", "float", 0, True, True),
    "slot": RequestColumn("slot", "int64", 0, True, True),
}


def made(column):
    """The cases of one column by name."""
    plain = example(ROWS[0])
    return {
        case.name: case for case in cases([column], plain) if case.column is not None
    }


def value_of(case):
    feature = tf.train.Example.FromString(case.example).features.feature[case.column]
    return list(getattr(feature, feature.WhichOneof("kind")).value)


def test_columns_come_from_the_signature_that_takes_them(saved, rows):
    loaded = tf.saved_model.load(saved())
    signatures = [Signature(*item) for item in loaded.signatures.items()]
    assert request_columns(signatures, rows) == list(COLUMNS.values())


def test_without_such_a_signature_the_rows_tell_the_columns(rows):
    assert request_columns([], rows) == list(COLUMNS.values())


def test_equally_long_lists_are_a_vector_and_digits_are_numbers():
    rows = [example({"v": [1.0, 2.0], "n": [b"7"]}), example({"n": [b"-1.5e3"]})]
    assert request_columns([], rows) == [
        RequestColumn("n", "bytes", 0, False, True),
        RequestColumn("v", "float", 2, True, True),
    ]


def test_a_column_without_a_value_in_any_row_is_absent(rows):
    # The third row has no history, the fourth neither price nor slot.
    assert absent_columns(COLUMNS, rows) == []
    assert absent_columns(COLUMNS, rows[3:]) == ["price", "slot"]
    foreign = [example({"z": [1.0]}), example({"item": []})]
    assert absent_columns(COLUMNS, foreign) == ["history", "item", "price", "slot"]


def test_values_that_the_log_may_hold_must_be_answered():
    texts = made(COLUMNS["item"])
    for name in ("unseen", "empty text", "NUL bytes", "invalid UTF-8", "1 MiB of text"):
        assert texts[name].must_answer
    assert value_of(texts["NUL bytes"]) == [b"a\0b\0"]
    numbers = made(COLUMNS["slot"])
    for name, value in {"lowest": -(2**63), "highest": 2**63 - 1}.items():
        assert numbers[name].must_answer
        assert value_of(numbers[name]) == [value]
    lists = made(COLUMNS["history"])
    assert lists["no value"].must_answer
    assert lists["10,000 values"].must_answer
    assert len(value_of(lists["10,000 values"])) == MANY


def test_what_ingest_would_put_aside_may_be_refused():
    may = {
        name for name, case in made(COLUMNS["price"]).items() if not case.must_answer
    }
    assert may >= {"NaN", "infinity", "-infinity", "wrong type", "10,000 values"}
    # Every row has an item; a price is absent in one.
    assert not made(COLUMNS["item"])["missing"].must_answer
    assert made(COLUMNS["price"])["missing"].must_answer


def test_text_that_is_no_number_may_be_refused_where_all_values_are_numbers():
    texts = made(RequestColumn("n", "bytes", 0, False, True))
    assert float(value_of(texts["unseen"])[0])
    assert texts["unseen"].must_answer
    assert not texts["NUL bytes"].must_answer


def test_a_request_is_odd_in_one_column_only():
    plain = example(ROWS[0])
    for case in cases(list(COLUMNS.values()), plain):
        if case.column is None:
            continue
        changed = tf.train.Example.FromString(case.example).features.feature
        usual = tf.train.Example.FromString(plain).features.feature
        for name in set(usual) - {case.column}:
            assert changed[name] == usual[name]

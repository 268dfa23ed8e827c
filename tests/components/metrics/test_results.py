"""Slices as JSON and back, their order, and the calibration error of a column."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.metrics.names import CHANGES, METRICS
from components.metrics.results import (
    Counts,
    Estimate,
    SliceResult,
    sort_slices,
    with_field_errors,
)
from components.metrics.slice_metrics import evaluate_rows

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ESTIMATES = st.one_of(
    st.builds(Estimate, st.none(), reason=st.text()),
    st.builds(
        Estimate,
        FLOATS,
        st.none() | st.tuples(FLOATS, FLOATS),
        standard_error=st.none() | FLOATS,
        effective_users=st.none() | FLOATS,
        notes=st.dictionaries(st.sampled_from(["excess", "by chance"]), FLOATS),
    ),
)


def estimates(names):
    return st.fixed_dictionaries(dict.fromkeys(names, ESTIMATES))


RESULTS = st.builds(
    SliceResult,
    st.dictionaries(st.text(), st.text() | st.integers() | FLOATS, max_size=2),
    st.builds(Counts, *[st.integers(0)] * 6),
    estimates(METRICS[:3]),
    st.none() | estimates(METRICS[:2]),
    st.none() | estimates(CHANGES[-2:]),
    weight=FLOATS,
    click_weight=FLOATS,
    predicted=FLOATS,
    outside_unit=st.integers(0),
    calibration=st.lists(
        st.fixed_dictionaries({"lowest": FLOATS, "observed": FLOATS}), max_size=2
    ).map(tuple),
    field_calibration_error=st.none() | st.dictionaries(st.text(), FLOATS, max_size=2),
    curves=st.none() | st.just({"roc": {"fpr": [0.0, 1.0], "tpr": [0.0, 1.0]}}),
)


def through_json(result):
    return SliceResult.from_json(json.loads(json.dumps(result.to_json())))


@settings(max_examples=20, deadline=None)
@given(RESULTS)
def test_a_slice_survives_json(result):
    assert through_json(result) == result


@pytest.mark.parametrize("baseline", [False, True])
def test_a_measured_slice_survives_json(make_rows, baseline):
    columns = make_rows(500, baseline=baseline, weighted=True)
    result = evaluate_rows(columns, key=(("device", "ios"), ("hour", 7)))
    assert through_json(result) == result
    assert ("delta" in result.to_json()) == baseline


def slice_of(key, weight=1.0, predicted=0.0, clicks=0.0, outside=0):
    return SliceResult(
        key,
        Counts(),
        {},
        weight=weight,
        predicted=predicted,
        click_weight=clicks,
        outside_unit=outside,
    )


def test_slices_come_by_features_then_by_values_and_all_rows_first():
    keys = [{"hour": 10}, {"a": "x", "hour": 1}, {"hour": 9}, {"device": "b"}, {}]
    keys += [{"device": "a"}, {"hour": "(missing)"}]
    ordered = [one.slice for one in sort_slices([slice_of(key) for key in keys])]
    assert ordered == [
        {},
        {"device": "a"},
        {"device": "b"},
        {"hour": 9},
        {"hour": 10},
        {"hour": "(missing)"},
        {"a": "x", "hour": 1},
    ]


def test_numbers_written_as_text_come_by_size_and_before_text():
    values = ["b", "10", "9", "-1.5", "7", "007", "1e5", "1.25"]
    ordered = sort_slices([slice_of({"x": value}) for value in values])
    assert [one.slice["x"] for one in ordered] == [
        *("-1.5", "1.25", "007", "7", "9", "10"),
        *("1e5", "b"),
    ]


DEVICES = [
    slice_of({"device": "ios"}, weight=60, predicted=9, clicks=6),
    slice_of({"device": "web"}, weight=40, predicted=3, clicks=6),
]


def test_field_error_weighs_the_gaps_of_all_values_by_hand():
    # Over all rows 12 predicted clicks face 12: PCOP is 1. By device, 3 of 60 rows
    # are too many and 3 of 40 too few: (3 + 3) / 100.
    whole = slice_of({}, weight=100, predicted=12, clicks=12)
    hours = [slice_of({"hour": 1}, weight=100, predicted=12, clicks=12)]
    crosses = [slice_of({"device": "ios", "hour": 1}, weight=60, predicted=9, clicks=6)]
    first, *others = with_field_errors([whole, *DEVICES, *hours, *crosses])
    assert first.field_calibration_error == {"device": 6 / 100, "hour": 0}
    assert others == [*DEVICES, *hours, *crosses]


def test_a_column_with_values_left_out_has_no_field_error():
    whole = slice_of({}, weight=100, predicted=12, clicks=12)
    (first, _) = with_field_errors([whole, DEVICES[0]])
    assert first.field_calibration_error is None


def test_predictions_that_are_no_probabilities_have_no_field_error():
    whole = slice_of({}, weight=100, predicted=12, clicks=12)
    odd = slice_of({"device": "web"}, weight=40, predicted=3, clicks=6, outside=1)
    (first, *_) = with_field_errors([whole, DEVICES[0], odd])
    assert first.field_calibration_error is None


def test_slices_without_the_one_of_all_rows_stay_as_they_are():
    assert with_field_errors(DEVICES) == DEVICES
    assert with_field_errors([]) == []

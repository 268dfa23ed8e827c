"""Values of a log as typed values, each rule with its fault."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

from data.convert.faults import UnfitColumnError
from data.convert.labels import to_label
from data.convert.lists import single, to_list
from data.convert.numbers import to_float32, to_float64, to_int64
from data.convert.text import to_text
from data.convert.times import to_seconds
from data.keys import Label


def binary(*values):
    return pa.array(list(values), pa.binary())


def faults(converted):
    """Row -> reason of its first fault."""
    found = {}
    for fault in converted.faults:
        for row in np.flatnonzero(fault.rows):
            found.setdefault(int(row), fault.text(int(row)))
    return found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (binary(b"007", b"1e20", b" x", b"", None), [b"007", b"1e20", b" x", None, None]),
        (pa.array([2**64 - 1, 2**53 + 1], pa.uint64()), [b"18446744073709551615", b"9007199254740993"]),
        (pa.array([-(2**63), None]), [b"-9223372036854775808", None]),
        (pa.array([True, False]), [b"1", b"0"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), [b"a", b"b", b"a"]),
        (pa.array([decimal.Decimal("12")], pa.decimal128(5, 0)), [b"12"]),
        (pa.nulls(2), [None, None]),
    ],
)  # fmt: skip
def test_ids_keep_every_digit(values, expected):
    assert to_text(values, "id").to_pylist() == expected


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.0, 2.0]),
        pa.array([decimal.Decimal("1.5")], pa.decimal128(3, 1)),
        pa.array([0], pa.timestamp("s")),
    ],
)
def test_types_without_one_spelling_are_no_ids(values):
    with pytest.raises(UnfitColumnError, match="column 'id' has the type"):
        to_text(values, "id")


def test_numbers_in_text():
    done = to_float64(
        binary(b"1", b"-2.5e3", b".5", b"5.", b"", b"abc", b"nan", b"inf", b"1e30", b"0x1", b"1_0"),
        "x",
    )  # fmt: skip
    assert done.values.to_pylist()[:5] == [1.0, -2500.0, 0.5, 5.0, None]
    assert done.values.to_pylist()[5:] == [None] * 6
    assert faults(done) == {
        5: "must be a number, got 'abc'",
        6: "must be a number, got 'nan'",
        7: "must be a number, got 'inf'",
        8: "must be within +-1.8e+19, got '1e30'",
        9: "must be a number, got '0x1'",
        10: "must be a number, got '1_0'",
    }


def test_nan_is_a_fault_in_typed_columns_and_in_parsable_text():
    assert faults(to_float32(pa.array([1.0, float("nan"), None]), "x")) == {
        1: "must be finite, got NaN or infinity"
    }
    # Arrow reads this text as a number; the rule stays.
    assert 0 in faults(to_float32(binary(b"inf"), "x"))


def test_numbers_are_float32():
    done = to_float32(pa.array([2**24 + 1], pa.int64()), "x")
    assert done.values.type == pa.float32()
    assert done.values.to_pylist() == [float(np.float32(2**24 + 1))]


def test_integers_in_text():
    done = to_int64(binary(b"7", b"-9223372036854775808", b"", b"9223372036854775808", b"1.0"), "x")  # fmt: skip
    assert done.values.to_pylist() == [7, -(2**63), None, None, None]
    assert sorted(faults(done)) == [3, 4]
    with pytest.raises(UnfitColumnError, match="never floats"):
        to_int64(pa.array([1.0]), "x")


MOMENT = datetime.datetime(2021, 3, 4, 5, 6, 7, tzinfo=datetime.timezone.utc)
SECONDS = int(MOMENT.timestamp())


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (binary(str(SECONDS).encode()), "auto"),
        (binary(f"{SECONDS}.75".encode()), "auto"),
        (pa.array([SECONDS]), "auto"),
        (pa.array([SECONDS + 0.5]), "unix"),
        (pa.array([SECONDS * 1000 + 1]), "unix_ms"),
        (binary(b"2021-03-04 05:06:07"), "auto"),
        (binary(b"2021-03-04T05:06:07.123456Z"), "iso"),
        (binary(b"2021-03-04 07:36:07+02:30"), "auto"),
        (binary(b"2021-03-03 23:06:07-0600"), "auto"),
        (binary(b"04/03/2021 05.06.07"), "%d/%m/%Y %H.%M.%S"),
        (pa.array([20210304050607]), "%Y%m%d%H%M%S"),
        (pa.array([MOMENT.replace(tzinfo=None)], pa.timestamp("ms")), "auto"),
        (pa.array([MOMENT], pa.timestamp("ns", "Europe/Rome")), "auto"),
    ],
)
def test_one_moment_in_many_spellings(values, form):
    done = to_seconds(values, "t", form)
    assert done.values.to_pylist() == [SECONDS]
    assert done.faults == ()


def test_dates_alone_are_midnight():
    days = pa.array([datetime.date(1970, 1, 3)])
    assert to_seconds(days, "t", "auto").values.to_pylist() == [2 * 86_400]
    assert to_seconds(binary(b"1970-01-03"), "t", "auto").values.to_pylist() == [
        172_800
    ]


def test_what_is_no_time():
    done = to_seconds(
        binary(b"2021-02-30", b"noon", b"2021-01-01 25:00", b"", b"2021-01-01"), "t", "auto"
    )  # fmt: skip
    assert done.values.to_pylist()[:4] == [None] * 4
    assert faults(done)[1] == "must be a time (ISO 8601), got 'noon'"
    assert sorted(faults(done)) == [0, 1, 2]
    assert "unix_ms" in faults(to_seconds(pa.array([SECONDS * 1000]), "t", "auto"))[0]
    assert "1970" in faults(to_seconds(pa.array([-1]), "t", "auto"))[0]


def test_strict_labels():
    done = to_label(
        binary(b"0", b"1", b"1.0", b"", b"yes", b"4"), None, Label(column="y")
    )
    assert done.values.to_pylist() == [0, 1, 1, None, None, None]
    assert faults(done) == {
        4: "must be 0 or 1, got 'yes'",
        5: "must be 0 or 1, got '4'",
    }
    assert to_label(pa.array([True, False]), None, Label(column="y")).values.to_pylist() == [1, 0]  # fmt: skip
    assert faults(to_label(pa.array([3]), None, Label(column="y"))) == {
        0: "must be 0 or 1, got '3'"
    }


@pytest.mark.parametrize(
    ("rule", "expected"),
    [({"at_least": 4}, [0, 1, 1, None]), ({"above": 4}, [0, 0, 1, None])],
)
def test_labels_by_threshold(rule, expected):
    label = Label(column="rating", **rule)
    assert to_label(binary(b"3", b"4", b"5", b""), None, label).values.to_pylist() == (
        expected
    )


def test_labels_by_quotient():
    label = Label(column="tips", above=0.2, divided_by="fare")
    tips, fare = pa.array([3.0, 2.0, 1.0, 1.0]), pa.array([10.0, 10.0, 0.0, None])
    # 0.3 and 0.2 against 0.2; no fare counts as no tip; an absent fare is unknown.
    assert to_label(tips, fare, label).values.to_pylist() == [1, 0, 0, None]


def test_labels_by_name():
    label = Label(column="y", positive=("yes", "y"), negative=("no",))
    done = to_label(binary(b"yes", b"no", b"y", b"", b"maybe"), None, label)
    assert done.values.to_pylist() == [1, 0, 1, None, None]
    assert faults(done) == {4: "must be one of yes, y, no, got 'maybe'"}


def ids(values, column):
    from data.convert.faults import Converted

    return Converted(to_text(values, column))


@pytest.mark.parametrize(
    "values",
    [
        binary(b"1|22||3", b"", None, b"4"),
        pa.array([["1", "22", None, "3"], [], None, ["4"]]),
        pa.array([[1, 22, None, 3], [], None, [4]], pa.large_list(pa.int32())),
    ],
)
def test_sequences_of_ids(values):
    done = to_list(values, "s", "|", ids, None)
    # Empty items are left out, and an empty list is an absent one.
    assert done.values.to_pylist() == [[b"1", b"22", b"3"], None, None, [b"4"]]


def test_sequences_of_a_slice():
    values = pa.array([["0"], ["1", "2"], ["3"]]).slice(1)
    assert to_list(values, "s", "|", ids, None).values.to_pylist() == [
        [b"1", b"2"],
        [b"3"],
    ]


def test_vectors_have_one_length():
    done = to_list(
        binary(b"1|2", b"1|2|3", b"", b"1|x", b"1|"), "v", "|", to_float32, 2
    )
    assert done.values.to_pylist()[0] == [1.0, 2.0]
    assert done.values.to_pylist()[2] is None
    found = faults(done)
    assert found[1] == "must hold exactly 2 numbers"
    assert "must be a number" in found[3]
    assert found[4] == "must hold exactly 2 numbers"
    fixed = pa.array([[1.0, 2.0], None], pa.list_(pa.float64(), 2))
    assert to_list(fixed, "v", "|", to_float32, 2).values.to_pylist() == [
        [1.0, 2.0],
        None,
    ]


def test_lists_of_one_value_are_that_value():
    done = single(pa.array([[5], [], None, [6, 7]]))
    assert done.values.to_pylist()[:3] == [5, None, None]
    assert faults(done) == {3: "one value expected, several found"}

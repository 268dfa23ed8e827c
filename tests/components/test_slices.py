"""Slices by column: missing values, several values, crosses, joined parts."""

import pickle

import numpy as np
import pytest

from components.slices import (
    SliceFeature,
    SliceSpec,
    by_size,
    join_features,
    slice_feature,
    slice_groups,
)


def feature(*row_values):
    """A feature from a list of values, or None, for each row."""
    values = [one for row in row_values for one in row or []]
    rows = [index for index, row in enumerate(row_values) for _ in row or []]
    return slice_feature(values, np.array(rows, np.int64), len(row_values))


def groups(features, names, count, wanted=()):
    spec = SliceSpec(tuple(names), tuple(wanted))
    return {key: rows.tolist() for key, rows in slice_groups(features, spec, count)}


def test_rows_without_a_value_have_their_own_slice():
    features = {"device": feature([b"ios"], None, [b""], [b"web"], [b"ios"])}
    assert groups(features, ["device"], 5) == {
        (("device", "ios"),): [0, 4],
        (("device", "(missing)"),): [1, 2],
        (("device", "web"),): [3],
    }


def test_a_row_counts_once_for_each_of_its_distinct_values():
    features = {"tags": feature([b"a", b"b", b"a"], [b"b"], None)}
    assert groups(features, ["tags"], 3) == {
        (("tags", "a"),): [0],
        (("tags", "b"),): [0, 1],
        (("tags", "(missing)"),): [2],
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_crosses_equal_a_loop_over_rows(seed):
    rng = np.random.default_rng(seed)
    tables = {
        name: [list(rng.integers(0, 3, rng.integers(0, width))) for _ in range(50)]
        for name, width in (("a", 3), ("b", 2), ("c", 4))
    }
    features = {name: feature(*rows) for name, rows in tables.items()}
    expected: dict = {}
    for row in range(50):
        sets = {
            n: sorted(set(rows[row])) or ["(missing)"] for n, rows in tables.items()
        }
        for a in sets["a"]:
            for b in sets["b"]:
                for c in sets["c"]:
                    expected.setdefault((("a", a), ("b", b), ("c", c)), []).append(row)
    found = groups(features, ["a", "b", "c"], 50)
    assert {key: sorted(rows) for key, rows in found.items()} == expected


def test_wanted_values_keep_only_their_slices():
    features = {"hour": feature([7], [8], [7])}
    assert groups(features, ["hour"], 3, [("hour", "7")]) == {(("hour", 7),): [0, 2]}


def test_integers_and_text_stay_apart():
    features = {"hour": feature([7], [b"7"])}
    assert len(groups(features, ["hour"], 2)) == 2


def test_bytes_that_are_no_text_are_shown_escaped():
    assert feature([b"\xff"]).values[-1] == "\\xff"


def test_parts_join_with_one_code_for_equal_values():
    joined = join_features([(feature([b"x"], [b"y"]), 2), (feature([b"y"], None), 2)])
    assert groups({"f": joined}, ["f"], 4) == {
        (("f", "x"),): [0],
        (("f", "y"),): [1, 2],
        (("f", "(missing)"),): [3],
    }


def test_take_renumbers_rows():
    taken = feature([b"x", b"y"], [b"z"], [b"y"]).take(np.array([0, 2]), 3)
    assert isinstance(taken, SliceFeature)
    assert groups({"f": taken}, ["f"], 2) == {
        (("f", "x"),): [0],
        (("f", "y"),): [0, 1],
    }


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        (["a", "b", "a"], [0, 1, 2]),
        (["a", "b", "b"], [0, 0, 2]),
        (list(range(300)), list(range(300))),
    ],
)
def test_a_pickled_feature_is_the_same(values, rows):
    feature = slice_feature(values, np.array(rows), max(rows) + 1)
    copy = pickle.loads(pickle.dumps(feature))
    for name in ("rows", "codes"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(feature, name))
        assert getattr(copy, name).dtype == np.int64
    assert copy.values == feature.values


def test_rows_taken_bring_their_own_values_only():
    feature = slice_feature([f"v{at}" for at in range(100)], np.arange(100), 100)
    taken = feature.take(np.array([3, 50]), 100)
    assert [taken.values[code] for code in taken.codes] == ["v3", "v50"]
    assert len(taken.values) == 2


def test_the_largest_slices_sort_first_and_ties_by_their_text():
    sizes = {(("x", "b"),): 2, (("x", "a"),): 2, (("x", "c"),): 5, (("x", "d"),): 1}
    ordered = sorted(sizes, key=lambda key: by_size(key, sizes[key]))
    assert [value for ((_, value),) in ordered] == ["c", "a", "b", "d"]

"""Which values of the statistics may be shown."""

import pyarrow as pa
import pytest

from components.data_checks.codes import category_codes
from components.data_checks.statistics import frequent_texts


def column(name, unique, rows):
    from tensorflow_metadata.proto.v0 import statistics_pb2

    found = statistics_pb2.FeatureNameStatistics()
    found.path.step.append(name)
    found.string_stats.unique = unique
    found.string_stats.common_stats.num_non_missing = rows
    found.string_stats.top_values.add(value="10.0.0.1", frequency=9)
    return found


def named(*features):
    code = int(category_codes(pa.array([b"10.0.0.1"], pa.binary()))[0])
    return {
        name
        for name, texts in frequent_texts(features).items()
        if texts == {code: "10.0.0.1"}
    }


@pytest.mark.parametrize(
    ("unique", "rows", "shown"),
    [
        (1000, 100_000, True),
        (1001, 1_000_000, False),  # too many values
        (3, 300, True),
        (3, 299, False),  # fewer than 100 rows for each of three
    ],
)
def test_values_are_named_where_many_rows_share_each_of_few(unique, rows, shown):
    assert named(column("ip", unique, rows)) == ({"ip"} if shown else set())


def test_a_column_of_many_values_in_one_split_is_named_in_none():
    train, evaluated = column("ip", 2000, 10**6), column("ip", 9, 10**6)
    device = column("device", 9, 10**6)
    assert named(train, evaluated, device) == {"device"}
    assert named(evaluated, train, device) == {"device"}

"""What is checked of each kind of column."""

from components.data_checks.columns import checked_columns


def test_each_column_that_features_read_is_checked_as_what_it_is(declare):
    dataset = declare(
        {"name": "user", "kind": "categorical", "buckets": 9},
        {"name": "item", "kind": "categorical", "encoding": "vocabulary"},
        {"name": "slot", "kind": "categorical", "encoding": "identity", "buckets": 5},
        {"name": "price", "kind": "numeric"},
        {
            "name": "hour",
            "column": "ts",
            "kind": "categorical",
            "derive": "hour_of_day",
        },
        {"name": "seen", "kind": "sequence", "vocabulary_of": "item", "max_length": 3},
        {"name": "image", "kind": "vector", "length": 2},
        {"name": "both", "kind": "cross", "features": ["item", "slot"], "buckets": 9},
        user_id="user",
        timestamp="ts",
    )
    found = {column.name: column for column in checked_columns(dataset)}
    assert {name: column.kind for name, column in found.items()} == {
        "user": "category",
        "ts": "number",
        "item": "category",
        "slot": "category",
        "price": "number",
        "seen": "category",
        "image": "vector",
    }
    assert {name for name, column in found.items() if column.moves} == {"user", "ts"}
    assert found["slot"].buckets == 5
    assert found["seen"].keeps_last
    assert [one.buckets for name, one in found.items() if name != "slot"] == [None] * 6

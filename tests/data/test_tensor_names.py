"""Names of columns as inputs of a signature."""

import pytest

from data.dataset import Dataset
from data.errors import ConfigError
from data.settings import parse
from data.tensor_names import check_tensor_names, tensor_name


@pytest.mark.parametrize("column", ["item", "I1", "x_", "a__b", "Class"])
def test_a_plain_name_is_kept(column: str) -> None:
    assert tensor_name(column) == column


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("item-id", "item_id"),
        ("a.b c/d", "a_b_c_d"),
        ("_x", "column__x"),
        ("1st", "column_1st"),
        ("preis \u20ac", "preis__"),
        ("\u00fc", "column__"),
        ("self", "column_self"),
        ("class", "column_class"),
    ],
)
def test_another_name_gets_letters_digits_and_underscores(
    column: str, name: str
) -> None:
    assert tensor_name(column) == name


@pytest.mark.parametrize("pair", [("a.b", "a_b"), ("Item", "item"), ("1", "column_1")])
def test_columns_that_would_be_one_input_are_refused(pair: tuple[str, str]) -> None:
    check_tensor_names([pair[0], "other", pair[0]])
    with pytest.raises(ValueError, match=f"'{pair[0]}' and '{pair[1]}' would be one"):
        check_tensor_names(pair)


def test_a_data_set_is_refused_with_such_columns() -> None:
    content = {
        "keys": {"label": "click"},
        "split": {"by": "hash", "columns": ["user"]},
        "features": [
            {"kind": "numeric", "name": "x", "column": "a.b"},
            {"kind": "numeric", "name": "y", "column": "a-b"},
        ],
    }
    with pytest.raises(ConfigError, match=r"^x\.yaml: features: columns 'a\.b' and"):
        parse(Dataset, content, "x.yaml")

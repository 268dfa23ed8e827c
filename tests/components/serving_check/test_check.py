"""Whether the rows are those of the model: a model answers any others as well."""

import pytest

from components.serving_check import check
from components.serving_check.config import ServingCheckConfig
from components.serving_check.verdict import Check
from data.errors import DataError
from tests.components.serving_check.conftest import ROWS, example


@pytest.fixture
def columns_check(saved, monkeypatch):
    """Checks rows with a replay that finds nothing to say."""
    monkeypatch.setattr(check, "replay", lambda *_: {})
    monkeypatch.setattr(check, "_evaluated", lambda *_: None)
    monkeypatch.setattr(check, "model_checks", lambda *_: [])

    def run(rows):
        return check.check_serving(saved(), rows, ServingCheckConfig()).checks[1:]

    return run


def test_rows_of_another_schema_are_refused(columns_check):
    with pytest.raises(DataError) as caught:
        columns_check([example({"z": [1.0]})] * 30)
    assert str(caught.value) == (
        "rows have none of the model's columns (history, item, price, slot)"
    )


def test_columns_that_all_rows_lack_are_named(columns_check):
    text = "2 of 4 in the rows; absent in all of them: price, slot"
    assert columns_check([example(ROWS[3])]) == (Check("columns", None, "pass", text),)


def test_rows_with_all_columns_are_counted(columns_check, rows):
    text = "4 of 4 in the rows"
    assert columns_check(rows) == (Check("columns", None, "pass", text),)

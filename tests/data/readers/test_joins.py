"""Side tables add columns by key, and change no row of the log."""

import pytest

from data.dataset import Dataset
from data.errors import DataError
from data.readers.files import find_log
from data.readers.log import read_log_file, wanted_columns

LAYOUT = {
    "files": ["log.csv"],
    "rename": {"uid": "user"},
    "joins": [
        {
            "files": "item.txt",
            "key": "item",
            "format": "csv",
            "delimiter": "|",
            "quoting": False,
            "encoding": "latin-1",
            "header": ["item", "title", "date", "war", "noir"],
            "collect": {"genres": ["war", "noir"]},
            "extract": {"year": {"column": "date", "pattern": r"(\d{4})$"}},
            "columns": ["title"],
        },
        {"files": "user.csv", "key": "user"},
    ],
}


def dataset(*names):
    return Dataset.model_validate(
        {
            "layouts": [LAYOUT],
            "keys": {"label": "click", "user_id": "user"},
            "split": {"by": "hash", "columns": ["user"]},
            "features": [
                {"kind": "categorical", "name": name, "buckets": 10} for name in names
            ],
        }
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "log.csv").write_text("uid,item,click\nu1,7,1\nu2,8,0\nu3,9,0\n")
    (tmp_path / "item.txt").write_bytes(
        "7|Café|01-Jan-1995|1|1\n8|B||0|0\n".encode("latin-1")
    )
    (tmp_path / "user.csv").write_text("user,age\nu2,30\nu1,20\n")
    return tmp_path


def rows(folder, *names):
    declared = dataset(*names)
    log = find_log([str(folder)], declared)
    (batch,) = read_log_file(log.files[0], log.layout, wanted_columns(declared))
    return {
        name: column.to_pylist()
        for name, column in zip(
            batch.columns.schema.names, batch.columns.columns, strict=True
        )
    }


def test_columns_of_both_tables(folder):
    found = rows(folder, "title", "genres", "year", "age")
    assert found["user"] == [b"u1", b"u2", b"u3"]
    assert found["title"] == ["Café".encode(), b"B", None]
    assert found["genres"] == [[b"war", b"noir"], [], None]
    assert found["year"] == [b"1995", None, None]
    assert found["age"] == [b"20", b"30", None]


def test_a_key_in_two_rows_is_refused(folder):
    (folder / "user.csv").write_text("user,age\nu1,30\nu1,20\n")
    with pytest.raises(
        DataError, match=r"user\.csv: a key of 'user' stands in several"
    ):
        rows(folder, "age")


def test_an_absent_table_is_named(folder):
    (folder / "item.txt").unlink()
    with pytest.raises(DataError, match=r"no side table 'item\.txt'"):
        rows(folder, "title")

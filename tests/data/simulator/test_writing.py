"""Files of a simulated log: complete, equal for equal seeds, the same in each format."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from data.errors import UsageError
from data.records import read_records
from data.simulator import part_files, writing
from data.simulator.config import SimulatorConfig
from data.simulator.log import SCHEMA, simulate
from data.simulator.truth import expected_gauc

CONFIG = SimulatorConfig(rows=4_000, users=300, items=60, days=3, seed=2)
FORMATS = ("csv", "parquet", "tfrecord")


@pytest.fixture(scope="module")
def log() -> pa.Table:
    return pa.Table.from_batches(simulate(CONFIG))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("file_format", FORMATS)
def test_equal_seeds_give_equal_bytes(tmp_path: Path, file_format: str) -> None:
    first = writing.write_log(CONFIG, tmp_path / "a", file_format)
    writing.write_log(CONFIG, tmp_path / "b", file_format)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert list(content(tmp_path / "a")) == list(first.files)
    # Nothing is left beside the two folders.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_parquet_holds_the_rows_one_day_a_part(tmp_path: Path, log: pa.Table) -> None:
    written = writing.write_log(CONFIG, tmp_path / "log", "parquet")
    assert written.files == tuple(f"part-0000{n}-of-00003.parquet" for n in range(3))
    tables = [pa.parquet.read_table(tmp_path / "log" / name) for name in written.files]
    assert pa.concat_tables(tables).equals(log)
    for table in tables:
        assert len({second // 86_400 for second in table["timestamp"].to_pylist()}) == 1


def test_csv_holds_the_rows_with_histories_joined(
    tmp_path: Path, log: pa.Table
) -> None:
    written = writing.write_log(CONFIG, tmp_path / "log", "csv")
    types = {f.name: f.type for f in SCHEMA if f.name != "history"}
    options = pyarrow.csv.ConvertOptions(
        column_types=types | {"history": pa.string()}, strings_can_be_null=False
    )
    table = pa.concat_tables(
        pyarrow.csv.read_csv(tmp_path / "log" / name, convert_options=options)
        for name in written.files
    )
    assert table.column_names == SCHEMA.names
    for name in types:
        # Texts of floats are the shortest that read back to the same bits.
        assert table[name].to_pylist() == log[name].to_pylist()
    joined = [
        part_files.LIST_SEPARATOR.join(items) for items in log["history"].to_pylist()
    ]
    assert table["history"].to_pylist() == joined


def test_tfrecord_holds_one_record_a_row(tmp_path: Path, log: pa.Table) -> None:
    written = writing.write_log(CONFIG, tmp_path / "log", "tfrecord")
    records = []
    for name in written.files:
        payload = gzip.decompress((tmp_path / "log" / name).read_bytes())
        records += [record for _, _, record in read_records(iter([payload]), name)]
    assert len(records) == log.num_rows
    for record, request in zip(records, log["request_id"].to_pylist(), strict=True):
        assert request.encode() in record


def test_long_days_are_cut_into_parts(
    tmp_path: Path, log: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 1,333 or 1,334 rows a day at 500 a part: three parts a day.
    monkeypatch.setattr(writing, "_PART_ROWS", 500)
    monkeypatch.setattr(part_files, "_ROW_GROUP", 100)
    written = writing.write_log(CONFIG, tmp_path / "log", "parquet")
    tables = [pa.parquet.read_table(tmp_path / "log" / name) for name in written.files]
    assert len(tables) == 9
    assert max(table.num_rows for table in tables) <= 500
    assert pa.concat_tables(tables).equals(log)


def test_totals_are_those_of_the_rows(tmp_path: Path, log: pa.Table) -> None:
    seen: list[int] = []
    totals = writing.write_log(CONFIG, tmp_path / "log", "csv", seen.append).totals
    assert sum(seen) == totals.rows == 4_000
    assert totals.clicks == sum(log["click"].to_pylist())
    assert totals.users == len(set(log["user_id"].to_pylist()))
    assert totals.items == len(set(log["item_id"].to_pylist()))
    truth = log["true_probability"].to_numpy()
    users = [int(name[1:]) for name in log["user_id"].to_pylist()]
    assert totals.expected_clicks == pytest.approx(truth.sum())
    assert totals.true_gauc == pytest.approx(expected_gauc(users, truth, truth))


def test_a_failure_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writing.write_log(CONFIG, tmp_path / "log", "csv", broken)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_taken_and_another_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    writing.write_log(CONFIG, tmp_path / "log", "csv")
    before = content(tmp_path / "log")
    with pytest.raises(UsageError, match="must be empty or absent"):
        writing.write_log(CONFIG, tmp_path / "log", "csv")
    assert content(tmp_path / "log") == before
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        writing.write_log(CONFIG, tmp_path / "file", "csv")
    with pytest.raises(UsageError, match="cannot be written"):
        writing.write_log(CONFIG, tmp_path / "file" / "log", "csv")


def test_an_unknown_format_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'parquet'"):
        writing.write_log(CONFIG, tmp_path / "log", "parket")

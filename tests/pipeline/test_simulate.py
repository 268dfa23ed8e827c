"""``ctr simulate``: summary, JSON, refusals in one line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from data.errors import CtrError
from pipeline.cli.main import cli

SIZES = ("--rows", "2000", "--users", "100", "--days", "2", "--seed", "4")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["simulate", *arguments])


def test_json_is_one_object_that_counts_the_files(tmp_path: Path) -> None:
    output = tmp_path / "log"
    done = call("--output", str(output), *SIZES, "--format", "parquet", "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["rows"] == 2_000
    assert result["users"] == 100
    assert result["files"] == len(list(output.iterdir())) == 2
    assert result["ctr"] == result["clicks"] / 2_000
    assert 0.5 < result["true_gauc"] < 1


def test_table_names_the_figures_and_the_folder(tmp_path: Path) -> None:
    done = call("--output", str(tmp_path / "log"), *SIZES)
    assert done.exit_code == 0, done.output
    for word in ("rows", "users", "items", "click rate", "true GAUC", "2 csv files"):
        assert word in done.stdout


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert call("--output", str(tmp_path / name), *SIZES).exit_code == 0
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rows", "0"), "rows: must be >= 1, got 0"),
        (("--users", "-3"), "users: must be >= 1, got -3"),
        (("--days", "9999"), "days: must be <= 3650, got 9999"),
        (("--seed", "-1"), "seed: must be >= 0, got -1"),
    ],
)
def test_a_size_out_of_bounds_is_one_line(
    tmp_path: Path, arguments: tuple[str, str], message: str
) -> None:
    error = call("--output", str(tmp_path / "log"), *arguments).exception
    assert isinstance(error, CtrError)
    assert error.exit_code == 2
    assert message in str(error)
    assert "\n" not in str(error)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("keep me")
    error = call("--output", str(tmp_path), *SIZES).exception
    assert isinstance(error, CtrError)
    assert error.exit_code == 2
    assert "must be empty or absent" in str(error)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]

"""Small logs: as counted rows, and as shards with their manifest and statistics."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from components.data_checks.columns import checked_columns
from components.data_checks.rows import RowBatch
from components.data_checks.tally import Tally
from data.columns import shard_columns
from data.dataset import Dataset
from data.manifest import Manifest, TimeSpan, make_split, write_manifest

DAY = 86_400
_TYPES = {"bytes": pa.binary(), "int64": pa.int64(), "float": pa.float32()}
Rows = list[dict[str, Any]]


@pytest.fixture
def declare() -> Callable[..., Dataset]:
    """A declaration of some features; keys may be added."""

    def declare(*features: dict[str, Any], **keys: Any) -> Dataset:
        return Dataset.model_validate(
            {
                "keys": {"label": "click"} | keys,
                "split": {"by": "given", "train": "a*", "eval": "b*"},
                "features": list(features),
            }
        )

    return declare


def lists_of(dataset: Dataset, rows: Rows) -> dict[str, pa.Array]:
    """Columns of rows; an absent key is an absent value."""
    columns = {}
    for column in shard_columns(dataset):
        values = [row.get(column.name) for row in rows]
        lists = [one if isinstance(one, list | None) else [one] for one in values]
        columns[column.name] = pa.array(lists, pa.list_(_TYPES[column.dtype]))
    return columns


def time_span(dataset: Dataset, rows: Rows) -> TimeSpan | None:
    """First and last time of rows."""
    if dataset.keys.timestamp is None:
        return None
    times = [row[dataset.keys.timestamp.column] for row in rows]
    return TimeSpan(first=min(times), last=max(times))


@pytest.fixture
def tally_of() -> Callable[..., Tally]:
    """Counts rows of both splits, each as one shard."""

    def tally_of(dataset: Dataset, train: Rows, evaluated: Rows, **centres: float):
        rows = {"train": train, "eval": evaluated}
        splits = {
            name: make_split([], time_span(dataset, part))
            for name, part in rows.items()
        }
        manifest = Manifest(
            rows_read=0, rows_written=0, rows_quarantined=0, splits=splits
        )
        tally = Tally(dataset, checked_columns(dataset), manifest, centres)
        for name, part in rows.items():
            tally.add(
                RowBatch(
                    split=name,
                    shard=f"Split-{name}/0.gz",
                    records=[],
                    columns=lists_of(dataset, part),
                )
            )
        return tally

    return tally_of


@pytest.fixture
def write_log(tmp_path: Path) -> Callable[..., str]:
    """Writes rows by split as shards, with a manifest and empty statistics."""
    from tensorflow_metadata.proto.v0 import statistics_pb2

    from data.examples import encode
    from data.records import frame_all
    from data.shards import ShardWriter

    def write_log(dataset: Dataset, **rows: Rows) -> str:
        splits = {}
        for name, part in rows.items():
            batch = pa.RecordBatch.from_pydict(lists_of(dataset, part))
            with ShardWriter(str(tmp_path), f"Split-{name}/0.gz") as writer:
                clicks = sum(row["click"] for row in part)
                writer.write(frame_all(encode(batch)), len(part), clicks)
                splits[name] = make_split([writer.close()], time_span(dataset, part))
            statistics = statistics_pb2.DatasetFeatureStatisticsList()
            statistics.datasets.add()
            path = tmp_path / "statistics" / f"Split-{name}" / "FeatureStats.pb"
            path.parent.mkdir(parents=True)
            path.write_bytes(statistics.SerializeToString())
        total = sum(len(part) for part in rows.values())
        manifest = Manifest(
            rows_read=total, rows_written=total, rows_quarantined=0, splits=splits
        )
        write_manifest(str(tmp_path), manifest)
        return str(tmp_path)

    return write_log

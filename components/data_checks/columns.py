"""Which columns are checked, and what one row says in each."""

from dataclasses import dataclass
from typing import Literal

from data.columns import Column, shard_columns
from data.dataset import Dataset
from data.features import Categorical, Cross, Feature, Sequence


@dataclass(frozen=True, kw_only=True)
class CheckedColumn:
    """A column of the shards that some feature reads.

    Attributes:
        name: of the column.
        kind: ``category`` or ``number``; of a list the value at the end that the model
            keeps, so that a row counts once; of a ``vector`` its Euclidean length.
        keeps_last: which value of a list it is.
        moves: True for ids of users and requests and for the time, which differ from
            day to day in any log.
        buckets: of identity-encoded ids, which lie in [0, buckets).
    """

    name: str
    kind: Literal["category", "number", "vector"]
    keeps_last: bool = False
    moves: bool = False
    buckets: int | None = None


def checked_columns(dataset: Dataset) -> tuple[CheckedColumn, ...]:
    """The columns that features read, each once.

    Args:
        dataset: the declaration.

    Returns:
        Columns in the order of the shards.
    """
    readers: dict[str, list[Feature]] = {}
    for feature in dataset.features:
        if not isinstance(feature, Cross):
            readers.setdefault(feature.source, []).append(feature)
    return tuple(
        _checked(column, readers[column.name], dataset)
        for column in shard_columns(dataset)
        if column.name in readers
    )


def _checked(
    column: Column, features: list[Feature], dataset: Dataset
) -> CheckedColumn:
    """One column."""
    keys = dataset.keys
    time = keys.timestamp.column if keys.timestamp else None
    kind: Literal["category", "number", "vector"] = "category"
    if column.length:
        kind = "vector"
    elif column.dtype == "float" or column.name == time:
        kind = "number"
    buckets = [
        feature.buckets
        for feature in features
        if isinstance(feature, Categorical | Sequence)
        and feature.encoding == "identity"
        and feature.buckets
    ]
    return CheckedColumn(
        name=column.name,
        kind=kind,
        keeps_last=any(isinstance(f, Sequence) and f.keep == "last" for f in features),
        moves=column.name in {keys.user_id, keys.request_id, time},
        # A column that other features read as text has no whole numbers to look at.
        buckets=min(buckets) if buckets and column.dtype == "int64" else None,
    )

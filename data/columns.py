"""What the shards hold: one typed column for each key and feature source."""

from typing import Literal

from data.dataset import Dataset
from data.features import Categorical, Cross, Feature, Numeric, Vector
from data.settings import Settings

Dtype = Literal["bytes", "int64", "float"]


class Column(Settings):
    """One feature of the tf.Example rows that ingest writes.

    Attributes:
        name: key of the tf.Example feature, and name of the column in the log.
        dtype: kind of its value list.
        length: 0 for absent or one value, n for absent or exactly n values, None for
            a list of any length.
        required: a row without it is a bad row.
    """

    name: str
    dtype: Dtype
    length: int | None = 0
    required: bool = False


def shard_columns(dataset: Dataset) -> tuple[Column, ...]:
    """The columns of the shards, in a fixed order: keys, features, carried columns.

    Ids are bytes as written in the log (``007`` is not ``7``, values above 2^63 keep
    their digits); identity-encoded ids and times are int64; numbers are float. A key
    keeps its type when a feature reads it too; a column that features read as
    different types is kept as text.

    Args:
        dataset: the declaration.

    Returns:
        Each column once.
    """
    keys = dataset.keys
    columns: dict[str, Column] = {}
    columns[keys.label_name] = Column(
        name=keys.label_name, dtype="int64", required=True
    )
    if keys.user_id:
        columns[keys.user_id] = Column(name=keys.user_id, dtype="bytes", required=True)
    if keys.weight:
        columns[keys.weight] = Column(name=keys.weight, dtype="float", required=True)
    if keys.timestamp:
        name = keys.timestamp.column
        columns[name] = Column(name=name, dtype="int64", required=True)
    fixed = frozenset(columns)
    for feature in dataset.features:
        if isinstance(feature, Cross):
            continue
        column = _column(feature)
        known = columns.setdefault(column.name, column)
        if column.name not in fixed and known.dtype != column.dtype:
            columns[column.name] = known.model_copy(update={"dtype": "bytes"})
    for carried in (keys.request_id, *dataset.carry):
        if carried is not None:
            columns.setdefault(carried, Column(name=carried, dtype="bytes"))
    return tuple(columns.values())


def _column(feature: Feature) -> Column:
    """The column that one feature reads."""
    assert not isinstance(feature, Cross)
    if isinstance(feature, Numeric):
        return Column(name=feature.source, dtype="float")
    if isinstance(feature, Vector):
        return Column(name=feature.source, dtype="float", length=feature.length)
    return Column(
        name=feature.source,
        dtype="int64" if feature.integer else "bytes",
        length=0 if isinstance(feature, Categorical) else None,
    )

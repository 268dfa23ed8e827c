"""A batch of a log as the typed columns of the shards, and its bad rows."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data.columns import Column, shard_columns
from data.convert.faults import Converted, Fault, UnfitColumnError, faults_of, mask
from data.convert.labels import to_label
from data.convert.lists import single, to_list
from data.convert.numbers import to_float32, to_int64
from data.convert.text import to_text
from data.convert.times import to_seconds
from data.dataset import Dataset
from data.features import Sequence, Vector
from data.readers.batch import BadRow, RawBatch
from data.readers.log import split_columns


@dataclass(frozen=True, kw_only=True)
class TypedBatch:
    """Good rows of a batch.

    Attributes:
        columns: the columns of ``shard_columns``, null where absent.
        split_keys: for each column that rows are split by, its text.
        bad: the other rows.
    """

    columns: pa.RecordBatch
    split_keys: Mapping[str, pa.Array]
    bad: tuple[BadRow, ...]


class RowConverter:
    """Converts batches by the rules of one declaration."""

    def __init__(self, dataset: Dataset) -> None:
        """Looks up what does not change from batch to batch.

        Args:
            dataset: the declaration.
        """
        self._dataset = dataset
        self._columns = shard_columns(dataset)
        self._split_columns = split_columns(dataset)
        self._separators = {
            feature.source: feature.separator
            for feature in dataset.features
            if isinstance(feature, Sequence | Vector)
        }

    def convert(self, batch: RawBatch) -> TypedBatch:
        """Converts one batch.

        Args:
            batch: columns as ``data.readers.log.wanted_columns`` names them.

        Returns:
            The good rows in their order, and the bad ones.

        Raises:
            DataError: a column as a whole has an unfit type.
        """
        faults: list[tuple[str, Fault]] = []
        arrays: list[pa.Array] = []
        try:
            for column in self._columns:
                done = self._convert(batch, column)
                arrays.append(done.values)
                faults += [(self._written(column), fault) for fault in done.faults]
            keys = {
                name: to_text(single(_column(batch, name)).values, name).fill_null(b"")
                for name in self._split_columns
            }
        except UnfitColumnError as error:
            raise UnfitColumnError(f"{batch.file}: {error}") from None
        names = [column.name for column in self._columns]
        table = pa.RecordBatch.from_arrays(arrays, names)
        bad_rows = _bad_rows(batch, faults)
        if bad_rows:
            wrong = np.zeros(table.num_rows, bool)
            for _, fault in faults:
                wrong |= fault.rows
            good = pa.array(~wrong)
            table = pc.filter(table, good)
            keys = {name: values.filter(good) for name, values in keys.items()}
        bad = sorted((*batch.bad, *bad_rows), key=lambda row: row.number)
        return TypedBatch(columns=table, split_keys=keys, bad=tuple(bad))

    def _convert(self, batch: RawBatch, column: Column) -> Converted:
        """One column, with the rule that a required value must be there."""
        keys = self._dataset.keys
        values = _column(batch, self._written(column))
        if column.length != 0:
            separator = self._separators[column.name]
            done = to_list(
                values, column.name, separator, _CONVERT[column.dtype], column.length
            )
        else:
            one = single(values)
            done = self._convert_single(batch, column, one.values)
            done = Converted(done.values, (*one.faults, *done.faults))
        if not column.required:
            return done
        known = np.zeros(len(done.values), bool)
        for fault in done.faults:
            known |= fault.rows
        absent = ~mask(done.values.is_valid()) & ~known
        extra = [Fault(rows=absent, reason="required, but absent")]
        if column.name == keys.weight:
            weights = done.values.fill_null(0).to_numpy(zero_copy_only=False)
            extra.append(Fault(rows=weights < 0, reason="a weight must be >= 0"))
        return Converted(done.values, (*done.faults, *faults_of(*extra)))

    def _convert_single(
        self, batch: RawBatch, column: Column, values: pa.Array
    ) -> Converted:
        """One column of single values."""
        keys = self._dataset.keys
        if column.name == keys.label_name:
            under = keys.label.divided_by
            divisor = single(_column(batch, under)).values if under else None
            return to_label(values, divisor, keys.label)
        if keys.timestamp and column.name == keys.timestamp.column:
            return to_seconds(values, column.name, keys.timestamp.format)
        done = _CONVERT[column.dtype](values, column.name)
        if column.name == keys.user_id:
            # A user id is never shown, whatever is wrong with it.
            hidden = tuple(Fault(rows=f.rows, reason=f.reason) for f in done.faults)
            return Converted(done.values, hidden)
        return done

    def _written(self, column: Column) -> str:
        """The log's column behind a column of the shards."""
        keys = self._dataset.keys
        return keys.label.column if column.name == keys.label_name else column.name


def _to_bytes(values: pa.Array, column: str) -> Converted:
    return Converted(to_text(values, column))


_CONVERT = {"bytes": _to_bytes, "int64": to_int64, "float": to_float32}


def _column(batch: RawBatch, name: str) -> pa.Array:
    """A column of the raw batch."""
    return batch.columns.column(batch.columns.schema.get_field_index(name))


def _bad_rows(batch: RawBatch, faults: list[tuple[str, Fault]]) -> list[BadRow]:
    """One entry a bad row, with the first rule that it broke."""
    first: dict[int, tuple[str, Fault]] = {}
    for column, fault in faults:
        for row in np.flatnonzero(fault.rows):
            first.setdefault(int(row), (column, fault))
    return [
        BadRow(
            file=batch.file,
            number=int(batch.places[row]),
            place=batch.place(row),
            column=column,
            reason=fault.text(row),
        )
        for row, (column, fault) in first.items()
    ]

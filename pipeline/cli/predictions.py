"""Files of predictions, read column by column in batches of rows."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.metrics.columns import NO_USER
from components.slices import NO_VALUE, SliceFeature, coded_feature
from data.errors import DataError, UsageError, suggest
from data.readers.batch import RawBatch
from data.readers.delimited import Dialect, read_delimited
from data.readers.formats import detect_format
from data.readers.parquet import read_parquet
from data.readers.tfrecord import feature_names, read_tfrecord

NUMERIC_ROLES = ("label", "prediction", "weight", "baseline", "reference")


@dataclasses.dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what.

    Attributes:
        label: column of labels.
        prediction: column of predictions.
        user: column of user ids, or None.
        weight: column of weights, or None.
        baseline: column of the other model's predictions, or None.
        reference: column of the pinned model's predictions, or None.
        slices: columns to slice by.
        top_slices: columns of which the largest slices are shown.
    """

    label: str
    prediction: str
    user: str | None = None
    weight: str | None = None
    baseline: str | None = None
    reference: str | None = None
    slices: tuple[str, ...] = ()
    top_slices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuses ids of users as numbers: a message about one would show it.

        Raises:
            UsageError: the column of users is one of numbers, too.
        """
        for role in NUMERIC_ROLES:
            if self.user is not None and getattr(self, role) == self.user:
                raise UsageError(
                    f"--user, --{role}: both name the column '{self.user}'; name another"
                )

    def by_option(self) -> list[tuple[str, str]]:
        """Command-line option and column of each role in use."""
        single = ("label", "prediction", "user", "weight", "baseline", "reference")
        named = [(f"--{role}", getattr(self, role)) for role in single]
        named += [("--slice", name) for name in self.slices]
        named += [("--top-slices", name) for name in self.top_slices]
        return [(option, name) for option, name in named if name is not None]


@dataclasses.dataclass(frozen=True, slots=True)
class Predictions:
    """The columns of a file of predictions, not yet checked.

    Attributes:
        users: int32 [rows], user codes.
        numbers: float64 [rows] by role: label, prediction, weight, baseline, reference.
        features: slice features.
    """

    users: NDArray[np.int32]
    numbers: dict[str, NDArray[np.float64]]
    features: dict[str, SliceFeature]


def read_predictions(path: str, roles: Roles) -> Predictions:
    """Reads a CSV, TSV, Parquet or TFRecord file.

    User ids and slice values are kept as written: text stays text.

    Args:
        path: the file.
        roles: which column is what.

    Returns:
        The columns; ids as codes, so that memory does not grow with their length.

    Raises:
        UsageError: a column is absent, or a number is none.
        DataError: the file is damaged or of an unknown format.
    """
    wanted = {role: name for role in NUMERIC_ROLES if (name := getattr(roles, role))}
    parts: dict[str, list[NDArray[np.float64]]] = {role: [] for role in wanted}
    users = _Codes(roles.user)
    slices = {name: _Codes(name) for name in (*roles.slices, *roles.top_slices)}
    rows = 0
    for batch in _batches(path, roles):
        if batch.bad:
            raise DataError(str(batch.bad[0]))
        table = batch.columns
        for role, name in wanted.items():
            column = _column(table, name)
            parts[role].append(_numbers(column, role, name, rows))
        users.add(table)
        for codes in slices.values():
            codes.add(table)
        rows += table.num_rows
    if rows == 0:
        raise UsageError(f"--predictions: {path}: no rows")
    return Predictions(
        users.users(rows),
        {role: np.concatenate(parts.pop(role)) for role in wanted},
        {name: codes.feature(rows) for name, codes in slices.items()},
    )


def _batches(path: str, roles: Roles) -> Iterator[RawBatch]:
    """Batches of the columns in use."""
    if "://" in path:
        raise UsageError(f"--predictions: {path}: must be a local file; copy it here")
    try:
        kind = detect_format(path)
    except OSError as error:
        raise UsageError(f"--predictions: {path}: {error.strerror}") from None
    names = list(dict.fromkeys(name for _, name in roles.by_option()))
    if kind == "tfrecord":
        if features := feature_names(path):  # a file without rows is told later
            _check_names(path, roles, features)
        return read_tfrecord(path, names)
    if kind == "parquet":
        _check_names(path, roles, _names(path, read_parquet(path, None)))
        return read_parquet(path, names)
    if kind in ("csv", "tsv"):
        dialect = Dialect(delimiter="\t" if kind == "tsv" else ",")
        _check_names(path, roles, _names(path, read_delimited(path, dialect, None)))
        return read_delimited(path, dialect, names)
    raise UsageError(
        f"--predictions: {path}: format not recognised; name it .csv, .tsv, .parquet or"
        " .tfrecord"
    )


def _names(path: str, batches: Iterator[RawBatch]) -> list[str]:
    """Names of the columns of a file."""
    first = next(batches, None)
    if first is None:
        raise UsageError(f"--predictions: {path}: no rows")
    names: list[str] = first.columns.schema.names
    return names


def _check_names(path: str, roles: Roles, known: list[str]) -> None:
    """Raises for a column that the file lacks, with the nearest one it has."""
    for option, name in roles.by_option():
        if name not in known:
            raise UsageError(
                f"{option}: no column '{name}' in {path}. Columns: "
                f"{', '.join(known)}.{suggest(name, known)}"
            )
        if known.count(name) > 1:
            raise UsageError(f"{option}: {path} has the column '{name}' twice")


def _column(table: pa.RecordBatch, name: str) -> pa.Array:
    """A column of the batch."""
    return table.column(table.schema.get_field_index(name))


def _is_list(column: pa.Array) -> bool:
    """Whether rows hold lists, as those of TFRecord files do."""
    return bool(pa.types.is_list(column.type) or pa.types.is_large_list(column.type))


def _single(column: pa.Array, name: str, first_row: int) -> pa.Array:
    """One value a row out of lists; null for an empty list."""
    if not _is_list(column):
        return column
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0))
    if (lengths > 1).any():
        row = first_row + int(np.argmax(lengths > 1)) + 1
        raise UsageError(f"data row {row}: '{name}' must have one value, got more")
    index = np.where(lengths > 0, np.cumsum(lengths) - 1, -1)
    return column.flatten().take(pa.array(index, pa.int64(), mask=index < 0))


def _numbers(
    column: pa.Array, role: str, name: str, first_row: int
) -> NDArray[np.float64]:
    """A column as float64, refusing what is no number."""
    column = _single(column, name, first_row)
    if column.null_count:
        row = first_row + int(np.argmax(np.asarray(column.is_null()))) + 1
        raise UsageError(
            f"data row {row}: {role} must be a number, column '{name}' is empty"
        )
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        column = _text(column, role, first_row)
    try:
        return np.asarray(pc.cast(column, pa.float64(), safe=False))
    except pa.ArrowInvalid:
        row, value = _first_no_number(column)
        raise UsageError(
            f"data row {first_row + row + 1}: {role} must be a number, got '{value}'"
        ) from None
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise UsageError(
            f"--{role}: column '{name}' has the type {column.type}; must be numbers"
        ) from None


def _text(column: pa.Array, role: str, first_row: int) -> pa.Array:
    """Bytes as text, which Arrow can read numbers from."""
    try:
        return pc.cast(column, pa.string())
    except pa.ArrowInvalid:
        row = next(i for i, one in enumerate(column.to_pylist()) if not one.isascii())
        raise UsageError(
            f"data row {first_row + row + 1}: {role} must be a number, got other bytes"
        ) from None


def _first_no_number(column: pa.Array) -> tuple[int, Any]:
    """Position and text of the first value that is no number."""
    for row, value in enumerate(column.to_pylist()):
        try:
            pc.cast(pa.array([value], column.type), pa.float64(), safe=False)
        except pa.ArrowInvalid:
            return row, value
    return 0, None


def _plain(column: pa.Array, name: str) -> pa.Array:
    """Values as text or numbers; a float that is no number is no value."""
    kind = column.type
    if pa.types.is_floating(kind):
        column = pc.cast(column, pa.float64())
        return pc.if_else(pc.is_finite(column), column, None)
    as_they_are = (
        pa.types.is_integer,
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_dictionary,
        pa.types.is_null,
    )
    if any(is_kind(kind) for is_kind in as_they_are):
        return column
    if pa.types.is_decimal(kind):  # older Arrow casts it to no text
        written = (None if one is None else str(one) for one in column.to_pylist())
        return pa.array(written, pa.string())
    try:
        return pc.cast(column, pa.string())  # dates, true and false
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        raise UsageError(
            f"column '{name}' has the type {kind}; users and slices need text, whole "
            "numbers or dates"
        ) from None


class _Codes:
    """Collects one column of ids as codes, batch by batch."""

    def __init__(self, name: str | None) -> None:
        """Starts an empty column; without a name every row has no id."""
        self._name = name
        self._table = dict(NO_VALUE)
        self._codes: list[NDArray[np.int64]] = []
        self._rows: list[NDArray[np.int64]] = []
        self._count = 0

    def add(self, table: pa.RecordBatch) -> None:
        """Codes the column of a batch."""
        if self._name is None:
            return
        column = _column(table, self._name)
        rows = np.arange(len(column))
        if _is_list(column):
            lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0))
            rows = np.repeat(rows, lengths)
            column = column.flatten()
        encoded = _plain(column, self._name).dictionary_encode()
        values = encoded.dictionary.to_pylist()
        known = [self._table.setdefault(one, len(self._table)) for one in values]
        codes = np.asarray([*known, 0], np.int64)  # a null takes the last entry
        index = np.asarray(encoded.indices.fill_null(len(known)))
        self._codes.append(codes[index].astype(np.int32))
        self._rows.append((rows + self._count).astype(np.int32))
        self._count += table.num_rows

    def users(self, row_count: int) -> NDArray[np.int32]:
        """Code of each row's user, ``NO_USER`` for none."""
        users = np.full(row_count, NO_USER, np.int32)
        if self._codes:
            codes, rows = np.concatenate(self._codes), np.concatenate(self._rows)
            if len(rows) > 1 and (np.diff(rows) == 0).any():
                raise UsageError(f"--user: '{self._name}' must have one value a row")
            codes[codes == 0] = NO_USER
            users[rows] = codes
        return users

    def feature(self, row_count: int) -> SliceFeature:
        """The column as a slice feature."""
        codes = np.concatenate(self._codes or [np.empty(0, np.int32)])
        rows = np.concatenate(self._rows or [np.empty(0, np.int32)])
        return coded_feature(
            codes.astype(np.int64), rows.astype(np.int64), list(self._table), row_count
        )

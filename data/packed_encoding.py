"""Rows to a record of the packed format."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from data.arrays import Ints, Values
from data.errors import DataError
from data.examples import encode
from data.packed import (
    HEADER,
    LARGEST,
    LENGTHS,
    MATRIX,
    ROWS,
    Dtype,
    PackedColumn,
    PackedLayout,
    planes_of,
)


def encode_block(layout: PackedLayout, columns: Mapping[str, Values]) -> bytes:
    """Packs rows into one record.

    Args:
        layout: what to store.
        columns: for each column of the layout an array [rows] or [rows, width].

    Returns:
        A serialized tf.Example; equal rows give equal bytes.

    Raises:
        DataError: a value does not fit the type of its column.
    """
    rows = len(columns[layout.columns[0].name])
    features: dict[str, pa.Array] = {
        HEADER: pa.array([layout.header]),
        ROWS: pa.array([rows]),
    }
    for dtype, group in layout.matrices.items():
        for column in group:
            _check_range(columns[column.name], column)
        matrix = np.stack([columns[column.name] for column in group], axis=1)
        features |= _planes(MATRIX + dtype, matrix, dtype)
    for column in layout.columns:
        if not column.width:
            continue
        values = columns[column.name]
        _check_range(values, column)
        if column.lists:
            lengths = _list_lengths(values)
            name = LENGTHS + column.name
            features |= _planes(name, lengths, column.lengths_dtype)
            values = values[np.arange(column.width) < lengths[:, None]]
        features |= _planes(column.name, values, column.dtype)
    block = pa.RecordBatch.from_arrays(list(features.values()), list(features))
    return encode(block)[0]


def _list_lengths(values: Values) -> Ints:
    """Length of each row without its trailing zeros, [rows]."""
    filled = values[:, ::-1] != 0
    lengths: Ints = np.where(
        filled.any(axis=1), values.shape[1] - filled.argmax(axis=1), 0
    )
    return lengths


def _check_range(values: Values, column: PackedColumn) -> None:
    """Refuses integers outside the type of their column."""
    if column.dtype == "float32":
        return
    largest = LARGEST[column.dtype]
    smallest = 0 if column.dtype.startswith("u") else -largest - 1
    if values.min() < smallest or values.max() > largest:
        raise DataError(
            f"column '{column.name}': value outside {column.dtype}; pack the rows with "
            "the vocabulary that Transform made"
        )


def _planes(feature: str, values: Values, dtype: Dtype) -> dict[str, pa.Array]:
    """Values as the bytes of each of their planes."""
    found, shift = {}, 0
    for name, plane in planes_of(feature, dtype).items():
        part = values >> shift if shift else values
        stored = part.astype(np.dtype(plane).newbyteorder("<"))
        found[name] = pa.array([stored.tobytes()], pa.binary())
        shift += 8 * stored.itemsize
    return found

"""The packed format: one tf.Example holds a block of rows, column by column.

Reading such a block costs little more than copying it, where a tf.Example for each row
costs the parser one look-up a value. The file stays a TFRecord file of tf.Examples:

- ``_packed``: the layout as JSON, with the version of the format; equal in all blocks
  of a file, so that each block can be read by itself and a foreign one is refused.
- ``_rows``: number of rows.
- one bytes feature a column: the values of all rows, row by row, little endian, in the
  narrowest type that holds them.
- ``_lengths/<column>`` for a column of lists: the length of each row's list.

A record is a block, so the record's own CRC32C is the checksum of the block.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pydantic

from data.arrays import Ints, Values
from data.errors import DataError
from data.examples import encode
from data.settings import Settings

VERSION = 1
HEADER = "_packed"
ROWS = "_rows"
LENGTHS = "_lengths/"
# Few enough that a window of many blocks fits a processor's cache, enough that the
# work for a block is small beside that for its rows.
BLOCK_ROWS = 256

Dtype = Literal["uint8", "uint16", "int32", "int64", "float32"]


class PackedColumn(Settings):
    """One column of a block.

    Attributes:
        name: of the feature.
        dtype: of the stored values.
        width: values of a row, stored as [rows, width]; 0 for one number, [rows].
        lists: trailing zeros of a row, which pad its list, are not stored.
    """

    name: str
    dtype: Dtype
    width: int = 0
    lists: bool = False

    @property
    def lengths_dtype(self) -> Dtype:
        """Type of the lengths of lists."""
        return narrowest(self.width)


class PackedLayout(Settings):
    """What the blocks of a file hold; the content of ``_packed``."""

    version: int = VERSION
    columns: tuple[PackedColumn, ...]

    @property
    def header(self) -> bytes:
        """The layout as the bytes that stand in each block."""
        return self.model_dump_json().encode()


def narrowest(largest: int) -> Dtype:
    """The narrowest integer type for values from 0 to ``largest``."""
    narrow: tuple[Dtype, ...] = ("uint8", "uint16", "int32")
    return next((one for one in narrow if largest <= np.iinfo(one).max), "int64")


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
    for column in layout.columns:
        values = columns[column.name].reshape(rows, column.width or 1)
        if column.lists:
            lengths = _list_lengths(values)
            features[LENGTHS + column.name] = _raw(
                lengths, column.lengths_dtype, column.name
            )
            values = values[np.arange(column.width) < lengths[:, None]]
        features[column.name] = _raw(values, column.dtype, column.name)
    block = pa.RecordBatch.from_arrays(list(features.values()), list(features))
    return encode(block)[0]


def read_header(record: bytes) -> tuple[PackedLayout, int] | None:
    """Layout and number of rows of a block.

    Args:
        record: a serialized tf.Example.

    Returns:
        Both, or None if the record is not packed.

    Raises:
        DataError: the block has another version of the format, or is damaged.
    """
    # Features stand in the order in which they were written.
    leading = _leading_payloads(record, (HEADER, ROWS))
    if leading is None:
        return None
    header, rows = leading
    try:
        layout = PackedLayout.model_validate_json(header)
    except pydantic.ValidationError:
        raise DataError(
            f"packed block with a header that version {VERSION} of the format does not "
            "know; pack the rows again with this release"
        ) from None
    if layout.version != VERSION:
        raise DataError(
            f"packed block of version {layout.version}; this release reads version "
            f"{VERSION}: pack the rows again"
        )
    return layout, _varint(rows, 0)[0]


def record_rows(record: bytes) -> int:
    """Rows of a record: those of a packed block, else 1."""
    if HEADER.encode() not in record[:64]:
        return 1
    header = read_header(record)
    return header[1] if header else 1


def _list_lengths(values: Values) -> Ints:
    """Length of each row without its trailing zeros, [rows]."""
    if values.shape[1] == 0:
        return np.zeros(len(values), np.int64)
    filled = values[:, ::-1] != 0
    lengths: Ints = np.where(
        filled.any(axis=1), values.shape[1] - filled.argmax(axis=1), 0
    )
    return lengths


def _raw(values: Values, dtype: Dtype, name: str) -> pa.Array:
    """The bytes of all values as the one item of an array."""
    stored = values.astype(np.dtype(dtype).newbyteorder("<"))
    if dtype != "float32" and not np.array_equal(stored, values):
        raise DataError(
            f"column '{name}': value outside {dtype}; pack the rows with the vocabulary "
            "that Transform made"
        )
    return pa.array([stored.tobytes()], pa.binary())


def _leading_payloads(record: bytes, names: Sequence[str]) -> list[bytes] | None:
    """Values of the first features of a tf.Example, None if they have other names.

    Every message on the way is a field with tag, length and content: features, entry,
    key, feature, list of values, packed or only value.
    """
    payloads = []
    try:
        _, position = _varint(record, 1)
        for name in names:
            size, entry = _varint(record, position + 1)
            position = entry + size
            size, start = _varint(record, entry + 1)
            if record[start : start + size] != name.encode():
                return None
            start += size
            for _ in range(3):
                size, start = _varint(record, start + 1)
            payloads.append(record[start : start + size])
    except IndexError:
        return None
    return payloads


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A varint and the position behind it."""
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position

"""The packed format: one tf.Example holds a block of rows, column by column.

Reading such a block costs little more than copying it, where a tf.Example for each row
costs the parser one look-up a value. The file stays a TFRecord file of tf.Examples:

- ``_packed``: the layout as JSON, with the version of the format; equal in all blocks
  of a file, so that each block can be read by itself and a foreign one is refused.
- ``_rows``: number of rows.
- ``_matrix/<type>``: all columns of one number a row that share a type, [rows, columns]
  row by row: what a reader does costs by the feature.
- ``<column>`` for a column of lists or vectors: its values, row by row.
- ``_lengths/<column>`` for a column of lists: the length of each row's list.

Values are little endian, in the narrowest type that holds them. ``uint24`` is stored as
two planes, the low 16 bits in the feature and the high 8 in ``_high/<feature>``: most
ids are small, and a plane of zeros packs to nothing.

A record is a block, so the record's own CRC32C is the checksum of the block.
"""

import json
from collections.abc import Sequence
from typing import Literal

import pydantic

from data.errors import DataError
from data.settings import Settings

VERSION = 1
HEADER = "_packed"
ROWS = "_rows"
LENGTHS = "_lengths/"
MATRIX = "_matrix/"
HIGH = "_high/"
# Few enough that a window of many blocks fits a processor's cache, enough that the
# work for a block is small beside that for its rows.
BLOCK_ROWS = 256

Dtype = Literal["uint8", "uint16", "uint24", "int32", "int64", "float32"]
# Largest value of each integer type, narrowest first.
LARGEST: dict[Dtype, int] = {
    "uint8": 2**8 - 1,
    "uint16": 2**16 - 1,
    "uint24": 2**24 - 1,
    "int32": 2**31 - 1,
    "int64": 2**63 - 1,
}


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
    def feature(self) -> str:
        """Name of the feature that holds the values."""
        return self.name if self.width else MATRIX + self.dtype

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
        content = {"version": self.version} | self.model_dump(exclude_defaults=True)
        return json.dumps(content, separators=(",", ":")).encode()

    @property
    def matrices(self) -> dict[Dtype, list[PackedColumn]]:
        """The columns of one number a row, in order, by type."""
        found: dict[Dtype, list[PackedColumn]] = {}
        for column in self.columns:
            if not column.width:
                found.setdefault(column.dtype, []).append(column)
        return found


def narrowest(largest: int) -> Dtype:
    """The narrowest integer type for values from 0 to ``largest``."""
    return next(one for one, limit in LARGEST.items() if largest <= limit)


def planes_of(feature: str, dtype: Dtype) -> dict[str, str]:
    """The features that values are stored in, and the type of each."""
    if dtype == "uint24":
        return {feature: "uint16", HIGH + feature: "uint8"}
    return {feature: dtype}


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

"""Rows of typed columns as serialized tf.Example, without TensorFlow.

The wire format is written column by column: each column becomes one binary array of
map entries, and a row is their concatenation. Protobuf's own map serialisation orders
keys by memory address, so only this way do equal rows give equal bytes.

References:
    https://protobuf.dev/programming-guides/encoding/ and TensorFlow's
    ``core/example/feature.proto``.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data.arrays import Ints

# Tags of the wire format: field number << 3 | 2 (length-delimited).
_FIELD_1 = b"\x0a"
_FIELD_2 = b"\x12"
# Feature.bytes_list = 1, float_list = 2, int64_list = 3.
_KIND_TAGS = {"bytes": b"\x0a", "float": b"\x12", "int64": b"\x1a"}


def encode(record_batch: pa.RecordBatch) -> list[bytes]:
    """Serializes each row as one tf.Example.

    Args:
        record_batch: columns of bytes or text, integers or floats, or (large) lists of
            these. A null leaves the feature out; an empty list is kept as an empty
            value list. Floats become float32.

    Returns:
        One serialized tf.Example a row, with the features in the order of the columns:
        equal rows give equal bytes.

    Raises:
        TypeError: a column has another type.
    """
    rows = record_batch.num_rows
    if rows == 0:
        return []
    if record_batch.num_columns == 0:
        return [b""] * rows
    entries = [
        _entries(name, column)
        for name, column in zip(
            record_batch.schema.names, record_batch.columns, strict=True
        )
    ]
    features = _concat(entries)
    examples: list[bytes] = _concat(
        [_length_prefix(_FIELD_1, _lengths(features)), features]
    ).to_pylist()
    return examples


def _entries(name: str, column: pa.Array) -> pa.Array:
    """Map entries ``{key: name, value: Feature}`` of a column; b"" where null."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_list = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
    kind = _kind(name, column.type.value_type if is_list else column.type)
    payload = _list_payload(column, kind) if is_list else _payload(column, kind)
    # The wrappers' lengths depend on the payload's length alone, so each distinct
    # length is wrapped once.
    lengths = _lengths(payload)
    distinct, codes = np.unique(lengths, return_inverse=True)
    key = name.encode()
    wrappers = pa.array(
        [_wrapper(key, kind, int(length)) for length in distinct], pa.binary()
    )
    entry = _concat([wrappers.take(pa.array(codes.reshape(-1))), payload])
    if column.null_count == 0:
        return entry
    return pc.if_else(column.is_valid(), entry, pa.scalar(b"", pa.binary()))


def _kind(name: str, value_type: pa.DataType) -> str:
    """Which value list of ``Feature`` holds values of an Arrow type."""
    if pa.types.is_integer(value_type):
        return "int64"
    if pa.types.is_floating(value_type):
        return "float"
    if (
        pa.types.is_binary(value_type)
        or pa.types.is_string(value_type)
        or pa.types.is_large_binary(value_type)
        or pa.types.is_large_string(value_type)
    ):
        return "bytes"
    raise TypeError(
        f"column '{name}': type {value_type} has no place in a tf.Example; use bytes, "
        "integers or floats"
    )


def _wrapper(key: bytes, kind: str, payload_length: int) -> bytes:
    """Everything of a map entry that stands before the value list's payload."""
    # Numbers are packed into one field, which is left out when it has no bytes.
    packed = b""
    if kind != "bytes" and payload_length:
        packed = _FIELD_1 + varint(payload_length)
    list_length = len(packed) + payload_length
    feature = _KIND_TAGS[kind] + varint(list_length) + packed
    feature_length = len(feature) + payload_length
    body = (
        _FIELD_1 + varint(len(key)) + key + _FIELD_2 + varint(feature_length) + feature
    )
    return _FIELD_1 + varint(len(body) + payload_length) + body


def _payload(values: pa.Array, kind: str) -> pa.Array:
    """Wire bytes of single values; b"" where null."""
    if kind == "bytes":
        values = _binary(values)
        return _concat([_length_prefix(_FIELD_1, _lengths(values)), values])
    if kind == "float":
        numbers = values.cast(pa.float32(), safe=False).fill_null(0.0)
        raw = numbers.to_numpy(zero_copy_only=False).astype("<f4")
        fixed = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(4), len(raw), [None, pa.py_buffer(raw.tobytes())]
        )
        return fixed.cast(pa.binary())
    integers = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return _varints(integers)


def _varints(integers: Ints) -> pa.Array:
    """The varint of each int64."""
    unsigned = integers.astype(np.int64).view(np.uint64)
    shifts = np.arange(0, 70, 7, dtype=np.uint64)
    groups = (unsigned[:, None] >> shifts) & np.uint64(0x7F)  # [values, 10]
    # A group is written if it, or one above it, has a bit; the first always is.
    written = np.maximum.accumulate(groups[:, ::-1] > 0, axis=1)[:, ::-1]
    written[:, 0] = True
    groups[:, :-1] |= written[:, 1:].astype(np.uint64) << np.uint64(7)
    borders = np.concatenate([[0], np.cumsum(written.sum(axis=1))]).astype(np.int32)
    data = groups.astype(np.uint8)[written].tobytes()
    return pa.Array.from_buffers(
        pa.binary(), len(integers), [None, pa.py_buffer(borders), pa.py_buffer(data)]
    )


def _list_payload(column: pa.Array, kind: str) -> pa.Array:
    """Wire bytes of the values of each list, one after the other."""
    if column.null_count:
        # Null lists may span values; filling makes them empty.
        column = column.take(pa.array(np.arange(len(column))))
    offsets = column.offsets.to_numpy().astype(np.int64)
    values = column.values.slice(offsets[0], offsets[-1] - offsets[0])
    if values.null_count:
        raise TypeError("lists must not hold nulls")
    flat = _payload(values, kind)
    # Joining is merging neighbours: the new offsets are the old ones at list borders.
    _, borders, data = flat.buffers()
    starts = np.frombuffer(borders, np.int32)[flat.offset :]
    joined = np.ascontiguousarray(starts[offsets - offsets[0]])
    return pa.Array.from_buffers(
        pa.binary(), len(column), [None, pa.py_buffer(joined), data]
    )


def varint(value: int) -> bytes:
    """A base-128 varint; negative values as 64-bit two's complement.

    Args:
        value: an integer of 64 bits.

    Returns:
        One to ten bytes.
    """
    value &= 0xFFFF_FFFF_FFFF_FFFF
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _length_prefix(tag: bytes, lengths: Ints) -> pa.Array:
    """``tag`` and the varint of each length."""
    distinct, codes = np.unique(lengths, return_inverse=True)
    table = pa.array([tag + varint(int(length)) for length in distinct], pa.binary())
    return table.take(pa.array(codes.reshape(-1)))


def _lengths(values: pa.Array) -> Ints:
    """Bytes of each value."""
    lengths: Ints = pc.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False)
    return lengths.astype(np.int64)


def _binary(values: pa.Array) -> pa.Array:
    """Text or bytes as bytes with 32-bit offsets."""
    return values.cast(pa.binary()).fill_null(b"")


def _concat(columns: Iterable[pa.Array]) -> pa.Array:
    """Element-wise concatenation of binary arrays without nulls."""
    return pc.binary_join_element_wise(*columns, pa.scalar(b"", pa.binary()))

"""Rows as tf.Example bytes, judged by TensorFlow's own parser."""

import numpy as np
import pyarrow as pa
import pytest

from data.examples import encode, varint


def parsed(batch):
    from tensorflow.core.example import example_pb2

    return [
        example_pb2.Example.FromString(row).features.feature for row in encode(batch)
    ]


def test_one_row_byte_by_byte():
    batch = pa.RecordBatch.from_arrays([pa.array([5])], ["a"])
    # packed 05 -> int64_list {0a 01 05} -> feature {1a 03 ..} -> entry of key "a".
    feature = bytes([0x1A, 3, 0x0A, 1, 5])
    entry = bytes([0x0A, 1]) + b"a" + bytes([0x12, len(feature)]) + feature
    features = bytes([0x0A, len(entry)]) + entry
    assert encode(batch) == [bytes([0x0A, len(features)]) + features]


def test_values_of_every_kind_come_back():
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array([b"x\xff", None, b""], pa.binary()),
            pa.array([2**63 - 1, -1, 0], pa.int64()),
            pa.array([1.5, None, -2.0], pa.float64()),
            pa.array([[b"a", b"bc"], None, []], pa.list_(pa.binary())),
            pa.array([[1, -(2**63)], [], None], pa.large_list(pa.int64())),
            pa.array([[0.5], None, [1.0, 2.0]], pa.list_(pa.float32())),
            pa.array(["long" * 100, "b", None]),
        ],
        list("abcdefg"),
    )
    first, second, third = parsed(batch)
    assert list(first["a"].bytes_list.value) == [b"x\xff"]
    assert list(first["b"].int64_list.value) == [2**63 - 1]
    assert list(first["d"].bytes_list.value) == [b"a", b"bc"]
    assert list(first["e"].int64_list.value) == [1, -(2**63)]
    assert list(first["g"].bytes_list.value) == [b"long" * 100]
    assert sorted(second) == ["b", "e", "g"]
    assert second["e"].WhichOneof("kind") == "int64_list"
    assert list(second["e"].int64_list.value) == []
    assert list(third["f"].float_list.value) == [1.0, 2.0]
    assert list(third["a"].bytes_list.value) == [b""]


def test_a_slice_of_a_batch_encodes_as_its_rows():
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array([str(i).encode() for i in range(9)]),
            pa.array([[i] * (i % 3) for i in range(9)], pa.list_(pa.int64())),
        ],
        ["a", "b"],
    )
    assert encode(batch.slice(4, 3)) == encode(batch)[4:7]


def test_integers_match_the_plain_varint():
    values = [0, 1, 127, 128, 300, 2**31, 2**62, 2**63 - 1, -1, -(2**63)]
    batch = pa.RecordBatch.from_arrays([pa.array(values)], ["v"])
    for value, row in zip(values, encode(batch), strict=True):
        assert row.endswith(varint(value))


def test_sequential_equality_with_tensorflows_serialisation_size():
    rng = np.random.default_rng(0)
    batch = pa.RecordBatch.from_arrays([pa.array(rng.random(50))], ["x"])
    for row, features in zip(encode(batch), parsed(batch), strict=True):
        assert len(features["x"].float_list.value) == 1
        assert len(row) == 2 + 2 + 3 + 2 + 2 + 2 + 4  # six wrappers and four bytes


def test_unfit_type_names_the_column():
    batch = pa.RecordBatch.from_arrays([pa.array([True])], ["flag"])
    with pytest.raises(TypeError, match=r"'flag'.*bool"):
        encode(batch)

"""TFRecord framing, against its published format and against TensorFlow."""

import gzip
import struct
import zlib

import pytest

from data.errors import DataError
from data.records import (
    RecordError,
    frame,
    frame_all,
    inflate,
    masked_crc,
    read_records,
    starts_plain,
)


def test_masked_crc_of_the_check_value():
    # CRC32C("123456789") is 0xE3069283 by definition of the algorithm; the mask rotates
    # right by 15 and adds a constant.
    crc = 0xE3069283
    rotated = ((crc >> 15) | (crc << 17)) & 0xFFFFFFFF
    assert masked_crc(b"123456789") == (rotated + 0xA282EAD8) & 0xFFFFFFFF


def test_frames_equal_tensorflows(tmp_path):
    import tensorflow as tf

    rows = [b"", b"abc", bytes(range(256))]
    path = str(tmp_path / "rows.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for row in rows:
            writer.write(row)
    written = (tmp_path / "rows.tfrecord").read_bytes()
    assert frame_all(rows) == written == b"".join(map(frame, rows))


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_records_come_back_from_any_chunks(chunk):
    data = frame_all([b"a", b"", b"long" * 50])
    pieces = [data[i : i + chunk] for i in range(0, len(data), chunk)]
    found = list(read_records(pieces, "f"))
    assert [payload for _, _, payload in found] == [b"a", b"", b"long" * 50]
    assert [offset for _, offset, _ in found] == [0, 17, 33]  # 16 bytes of frame each


def test_damaged_payload_is_one_record():
    data = bytearray(frame_all([b"aaa", b"bbb", b"ccc"]))
    data[19 + 12] ^= 1  # first payload byte of record 1: each record has 12 + 3 + 4
    found = list(read_records([bytes(data)], "f"))
    assert [item for _, _, item in found if isinstance(item, bytes)] == [b"aaa", b"ccc"]
    damage = found[1][2]
    assert isinstance(damage, RecordError)
    assert (damage.record, damage.offset, damage.resumable) == (1, 19, True)


def test_damaged_length_ends_the_file():
    data = bytearray(frame_all([b"aaa", b"bbb"]))
    data[19] ^= 1
    with pytest.raises(RecordError, match=r"record 1 .*offset 19.*length"):
        list(read_records([bytes(data)], "f"))


def test_absurd_length_is_refused_before_memory_is():
    head = struct.pack("<Q", 2**60)
    data = head + struct.pack("<I", masked_crc(head)) + b"rest"
    with pytest.raises(RecordError, match="absurd length"):
        list(read_records([data], "f"))


def test_plain_and_compressed_starts_are_told_apart():
    data = frame(b"x" * 376)  # length 0x0178: its first bytes look like ZLIB
    assert data[:2] == b"\x78\x01"
    assert starts_plain(data)
    assert not starts_plain(zlib.compress(data, 0))


def test_every_cut_of_a_gzip_stream_is_an_error():
    data = frame_all([str(i).encode() for i in range(40)])
    encoder = zlib.compressobj(6, wbits=31)
    # A flush in the middle: the place where other readers take a cut file as whole.
    packed = encoder.compress(data[:300]) + encoder.flush(zlib.Z_FULL_FLUSH)
    packed += encoder.compress(data[300:]) + encoder.flush()
    assert b"".join(inflate([packed], "f")) == data
    for cut in range(len(packed)):
        with pytest.raises(DataError):
            list(inflate([packed[:cut]], "f"))


def test_gzip_of_several_members_and_zero_padding():
    packed = gzip.compress(b"one") + gzip.compress(b"two")
    assert b"".join(inflate([packed + b"\0" * 9], "f")) == b"onetwo"
    with pytest.raises(DataError, match="damaged"):
        list(inflate([packed + b"text"], "f"))

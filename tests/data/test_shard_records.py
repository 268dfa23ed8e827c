"""All records of a shard, or an error."""

import gzip

import pytest

from data.records import RecordError, frame, frame_all
from data.shard_records import shard_records

ROWS = [b"a", b"", b"long" * 50]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_all_records_come_in_order(tmp_path, compress):
    path = tmp_path / "shard"
    path.write_bytes(compress(frame_all(ROWS)))
    assert list(shard_records(str(path))) == ROWS


def test_a_damaged_record_is_an_error_after_those_before_it(tmp_path):
    data = bytearray(frame_all([b"aaa", b"bbb", b"ccc"]))
    data[len(frame(b"aaa")) + 12] ^= 1  # the payload follows 12 bytes of header
    path = tmp_path / "shard"
    path.write_bytes(data)
    records = shard_records(str(path))
    assert next(records) == b"aaa"
    with pytest.raises(RecordError, match=r"shard: record 1 \(from 0\) at offset 19"):
        next(records)

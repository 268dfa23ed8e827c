"""Packed blocks hold what was written, and every damage is named by file and block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import DataError
from data.manifest import Manifest, make_split, write_manifest
from data.packed import (
    BLOCK_ROWS,
    PackedColumn,
    PackedLayout,
    narrowest,
    read_header,
    record_rows,
)
from data.packed_encoding import encode_block
from data.packed_shards import packed_files, read_layout, write_packed
from data.records import frame, read_records
from data.shards import payload_chunks, verify_manifest, verify_shard

LAYOUT = PackedLayout(
    columns=(
        PackedColumn(name="label", dtype="uint8"),
        PackedColumn(name="id", dtype="uint16"),
        PackedColumn(name="item", dtype="uint24"),
        PackedColumn(name="shop", dtype="uint24"),
        PackedColumn(name="list", dtype="int32", width=3, lists=True),
        PackedColumn(name="image", dtype="float32", width=2),
    )
)
RANGES = {
    "uint8": (0, 255),
    "uint16": (0, 65_535),
    "uint24": (0, 16_777_215),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}


def rows_from(first, count):
    number = np.arange(first, first + count)
    return {
        "label": number % 2,
        "id": number,
        "item": number * 16_000,
        "shop": 16_777_215 - number,
        "list": np.stack([number, number + 1, number * 0], axis=1),
        "image": np.stack([number / 2, -number], axis=1).astype(np.float32),
    }


def write(folder, rows=1000, compress=True):
    batches = [rows_from(0, 300), rows_from(300, 0), rows_from(300, rows - 300)]
    shard = write_packed(
        str(folder), "Split-train/part.gz", LAYOUT, batches, "label", compress=compress
    )
    write_manifest(
        str(folder),
        Manifest(
            rows_read=rows,
            rows_written=rows,
            rows_quarantined=0,
            splits={"train": make_split([shard], None)},
        ),
    )
    return shard


def unpack(record, layout):
    """An independent reader: protobuf's parser, and a loop over the rows."""
    from tensorflow.core.example import example_pb2

    found = example_pb2.Example.FromString(record).features.feature

    def stored(name, dtype):
        if dtype == "uint24":
            low, high = stored(name, "uint16"), stored(f"_high/{name}", "uint8")
            return [a + 65_536 * b for a, b in zip(low, high, strict=True)]
        return np.frombuffer(found[name].bytes_list.value[0], dtype).tolist()

    assert found["_packed"].bytes_list.value[0] == layout.header
    (rows,) = found["_rows"].int64_list.value
    columns = {}
    for dtype in {column.dtype for column in layout.columns}:
        names = [
            column.name
            for column in layout.columns
            if column.dtype == dtype and not column.width
        ]
        for place, name in enumerate(names):
            values = stored(f"_matrix/{dtype}", dtype)
            assert len(values) == rows * len(names)
            columns[name] = [[value] for value in values[place :: len(names)]]
    for column in layout.columns:
        if not column.width:
            continue
        values = stored(column.name, column.dtype)
        lengths = [column.width] * rows
        if column.lists:
            lengths = stored(f"_lengths/{column.name}", column.lengths_dtype)
        taken = []
        for length in lengths:
            taken.append(values[:length] + [0] * (column.width - length))
            values = values[length:]
        assert not values
        columns[column.name] = taken
    return columns


@st.composite
def blocks(draw):
    rows = draw(st.integers(1, 6))
    columns, values = [], {}
    for number in range(draw(st.integers(1, 4))):
        dtype = draw(st.sampled_from([*RANGES, "float32"]))
        width = draw(st.integers(0, 4))
        item = (
            st.floats(width=32, allow_nan=False)
            if dtype == "float32"
            else st.integers(*RANGES[dtype])
        )
        lists = width > 0 and draw(st.booleans())
        item = st.one_of(st.just(0), item)
        size = max(width, 1)
        row = st.lists(item, min_size=size, max_size=size)
        drawn = draw(st.lists(row, min_size=rows, max_size=rows))
        kind = np.float32 if dtype == "float32" else np.int64
        shape = [rows, width] if width else [rows]
        name = f"c{number}"
        columns.append(PackedColumn(name=name, dtype=dtype, width=width, lists=lists))
        values[name] = np.array(drawn, kind).reshape(shape)
    return PackedLayout(columns=tuple(columns)), values


@settings(max_examples=60, deadline=None)
@given(blocks())
def test_a_block_holds_the_rows_that_went_in(block):
    layout, values = block

    record = encode_block(layout, values)

    found = unpack(record, layout)
    for name, expected in values.items():
        np.testing.assert_array_equal(
            np.array(found[name], expected.dtype), expected.reshape(len(expected), -1)
        )
    assert read_header(record) == (layout, len(next(iter(values.values()))))


def test_trailing_zeros_of_lists_take_no_room():
    layout = PackedLayout(
        columns=(PackedColumn(name="l", dtype="int32", width=50, lists=True),)
    )
    lists = np.zeros([10, 50], np.int64)
    lists[:, 1] = 7

    # Two values of four bytes and a length of one byte for each of ten rows; zeros
    # before the last value stay.
    empty = len(encode_block(layout, {"l": np.zeros([10, 50], np.int64)}))
    assert 80 <= len(encode_block(layout, {"l": lists})) - empty <= 80 + 4
    assert unpack(encode_block(layout, {"l": lists}), layout)["l"] == lists.tolist()


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("uint8", [255, 256]),
        ("uint8", [-1, 0]),
        ("uint24", [2**24 - 1, 2**24]),
        ("int32", [-(2**31) - 1, 0]),
    ],
)
@pytest.mark.parametrize("width", [0, 1])
def test_a_value_outside_the_type_is_refused(dtype, values, width):
    column = PackedColumn(name="id", dtype=dtype, width=width)
    rows = np.array(values).reshape([2, width] if width else [2])

    with pytest.raises(DataError, match=f"column 'id': value outside {dtype}"):
        encode_block(PackedLayout(columns=(column,)), {"id": rows})


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [
        (1, "uint8"),
        (255, "uint8"),
        (256, "uint16"),
        (65_535, "uint16"),
        (65_536, "uint24"),
        (2**24 - 1, "uint24"),
        (2**24, "int32"),
        (2**31 - 1, "int32"),
        (2**31, "int64"),
    ],
)
def test_integers_get_the_narrowest_type(largest, dtype):
    assert narrowest(largest) == dtype


@pytest.mark.parametrize("compress", [True, False])
def test_a_shard_has_full_blocks_and_a_tail_in_the_order_of_the_rows(
    tmp_path, compress
):
    shard = write(tmp_path, compress=compress)

    path = str(tmp_path / shard.file)
    records = [record for _, _, record in read_records(payload_chunks(path), path)]
    found = [unpack(record, LAYOUT) for record in records]
    assert [len(block["id"]) for block in found] == [256, 256, 256, 232]
    ids = [row[0] for block in found for row in block["id"]]
    assert ids == list(range(1000))
    assert (shard.rows, shard.clicks) == (1000, 500)


def test_equal_rows_give_equal_bytes(tmp_path):
    first, second = write(tmp_path / "a"), write(tmp_path / "b")

    assert first == second
    paths = [tmp_path / folder / first.file for folder in ("a", "b")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_verifying_counts_rows_not_blocks(tmp_path):
    shard = write(tmp_path)

    assert verify_shard(str(tmp_path / shard.file)).rows == 1000
    assert list(verify_manifest(str(tmp_path))) == [(shard.file, None)]


def test_the_layout_is_read_from_the_first_block(tmp_path):
    shard = write(tmp_path)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "rows").write_bytes(frame(b"no block"))

    assert read_layout(str(tmp_path / shard.file)) == LAYOUT
    assert read_layout(str(tmp_path / "empty")) is None
    assert read_layout(str(tmp_path / "rows")) is None


def test_a_flipped_byte_is_refused_with_file_and_block(tmp_path):
    shard = write(tmp_path, compress=False)
    path = tmp_path / shard.file
    content = bytearray(path.read_bytes())
    content[-10] ^= 1  # the last of the four blocks
    path.write_bytes(content)

    with pytest.raises(DataError, match=r"part\.gz: record 3 .* fails its checksum"):
        verify_shard(str(path))
    (fault,) = [fault for _, fault in verify_manifest(str(tmp_path))]
    assert "record 3" in fault


@pytest.mark.parametrize("end", [-1, 1000, BLOCK_ROWS])
def test_a_cut_file_is_refused_by_its_size(tmp_path, end):
    shard = write(tmp_path)
    path = tmp_path / shard.file
    path.write_bytes(path.read_bytes()[:end])

    with pytest.raises(DataError, match=r"part\.gz: \d+ bytes, .* in the manifest"):
        packed_files(str(tmp_path / "Split-train"))


def test_the_shards_of_a_split_are_those_of_its_manifest(tmp_path):
    shard = write(tmp_path)

    assert packed_files(f"{tmp_path}/Split-train/") == [str(tmp_path / shard.file)]


def test_an_absent_file_is_refused(tmp_path):
    shard = write(tmp_path)
    (tmp_path / shard.file).unlink()

    with pytest.raises(DataError, match=r"part\.gz: absent"):
        packed_files(str(tmp_path / "Split-train"))


def test_another_version_of_the_format_is_refused(tmp_path):
    later = LAYOUT.model_copy(update={"version": 2})
    record = encode_block(later, rows_from(0, 5))
    (tmp_path / "later").write_bytes(frame(record))

    with pytest.raises(DataError, match=r"later: packed block of version 2"):
        read_layout(str(tmp_path / "later"))
    with pytest.raises(DataError, match=r"later: record 0 .* version 2"):
        verify_shard(str(tmp_path / "later"))


def test_a_record_that_is_no_block_counts_as_one_row():
    record = encode_block(LAYOUT, rows_from(0, 5))

    assert record_rows(record) == 5
    assert record_rows(b"") == 1
    assert record_rows(record[:3]) == 1
    assert record_rows(b"\n\x10\n\x0e\n\x05label\x12\x05\x1a\x03\n\x01\x01") == 1

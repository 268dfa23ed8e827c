"""Shards are complete, equal for equal rows, and every damage is reported."""

import gzip
import itertools
import json
import random
import zlib

import google_crc32c
import pytest

from data.errors import DataError
from data.manifest import Manifest, make_split, read_manifest, write_manifest
from data.records import frame_all
from data.shards import ShardWriter, verify_manifest, verify_shard

ROWS = [f"row {i}".encode() for i in range(200)]


def write(folder, name="Split-train/part.gz", rows=ROWS):
    with ShardWriter(str(folder), name) as writer:
        writer.write(frame_all(rows[:50]), 50, 3)
        writer.write(frame_all(rows[50:]), len(rows) - 50, 4)
        return writer.close()


def with_manifest(folder):
    shard = write(folder)
    write_manifest(
        str(folder),
        Manifest(
            rows_read=200,
            rows_written=200,
            rows_quarantined=0,
            splits={"train": make_split([shard], None)},
        ),
    )
    return folder / shard.file


def test_writer_counts_what_it_wrote(tmp_path):
    shard = write(tmp_path)
    payload = frame_all(ROWS)
    assert (shard.rows, shard.clicks) == (200, 7)
    assert shard.payload_bytes == len(payload)
    assert shard.crc32c == google_crc32c.value(payload)
    data = (tmp_path / shard.file).read_bytes()
    assert shard.bytes == len(data)
    assert zlib.decompress(data, 31) == payload


def test_equal_rows_give_equal_bytes(tmp_path):
    first, second = write(tmp_path / "a"), write(tmp_path / "b")
    assert first == second
    assert (tmp_path / "a" / first.file).read_bytes() == (
        tmp_path / "b" / second.file
    ).read_bytes()


def test_unfinished_shard_has_no_name(tmp_path):
    with ShardWriter(str(tmp_path), "Split-train/part.gz") as writer:
        writer.write(frame_all(ROWS), 200, 0)
    assert not (tmp_path / "Split-train").exists()


def test_whole_shard_passes(tmp_path):
    shard = write(tmp_path)
    content = verify_shard(str(tmp_path / shard.file))
    assert (content.rows, content.crc32c) == (200, shard.crc32c)


def test_no_cut_passes(tmp_path):
    data = (tmp_path / write(tmp_path).file).read_bytes()
    path = tmp_path / "cut.gz"
    for cut in range(1, len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(DataError, match=r"cut\.gz"):
            verify_shard(str(path))


def small(folder):
    """A shard of a few rows, and what it holds."""
    shard = write(folder, rows=ROWS[:60])
    return (folder / shard.file).read_bytes(), (shard.rows, shard.crc32c)


def outcome(path, data):
    """Rows and checksum of damaged bytes, None if they are refused."""
    path.write_bytes(data)
    try:
        content = verify_shard(str(path))
    except DataError:
        return None
    return content.rows, content.crc32c


def test_no_flipped_bit_passes_unless_the_rows_are_the_same(tmp_path):
    data, whole = small(tmp_path)
    for place, bit in itertools.product(range(len(data)), range(8)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << bit
        assert outcome(tmp_path / "flip.gz", damaged) in (None, whole), (place, bit)


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [True, False])
def test_ten_thousand_changed_bytes_lose_no_row_silently(tmp_path, compressed):
    data, whole = small(tmp_path)
    data = data if compressed else gzip.decompress(data)
    chance = random.Random(0)
    passed = 0
    for _ in range(10_000):
        damaged = bytearray(data)
        place = chance.randrange(len(data))
        damaged[place] ^= chance.randrange(1, 256)
        found = outcome(tmp_path / "flip.gz", damaged)
        assert found in (None, whole), place
        passed += found is not None
    # Only bytes that no reader needs may change: the time and the system in the head
    # of a GZIP file, 6 of its bytes. A plain file has none.
    assert passed == 0 if not compressed else passed < 10_000 * 12 / len(data)


def test_manifest_comes_back(tmp_path):
    with_manifest(tmp_path)
    manifest = read_manifest(str(tmp_path))
    assert manifest.splits["train"].rows == 200
    assert manifest.splits["train"].clicks == 7


def test_damaged_manifest_is_named(tmp_path):
    (tmp_path / "manifest.json").write_text('{"rows_read": "many"}')
    with pytest.raises(DataError, match=r"manifest\.json: damaged: rows_read: "):
        read_manifest(str(tmp_path))
    with pytest.raises(DataError, match="no manifest"):
        read_manifest(str(tmp_path / "elsewhere"))


@pytest.mark.parametrize("file", ["../other/part.gz", "/etc/hosts", "s3://b/part.gz"])
def test_a_manifest_that_leaves_its_folder_is_refused(tmp_path, file):
    with_manifest(tmp_path)
    path = tmp_path / "manifest.json"
    content = json.loads(path.read_text())
    content["splits"]["train"]["shards"][0]["file"] = file
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"manifest\.json: damaged: .*must lie below"):
        list(verify_manifest(str(tmp_path)))


def changed(folder, change):
    """Rewrites the manifest of one shard with 200 rows and 7 clicks."""
    with_manifest(folder)
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    change(content, content["splits"]["train"])
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda whole, train: whole.update(version=99),
            "damaged: version: must be 1, got 99; ingest the log again",
        ),
        (
            lambda whole, train: whole.update(rows_read=201),
            "damaged: rows_read: must be 200 by its parts, got 201",
        ),
        (
            lambda whole, train: whole.update(rows_written=199),
            "damaged: rows_written: must be 200 by its parts, got 199",
        ),
        (
            lambda whole, train: whole.update(quarantined={"click: must be 0 or 1": 2}),
            "damaged: rows_quarantined: must be 2 by its parts, got 0",
        ),
        (
            lambda whole, train: train.update(rows=1_000_000),
            "damaged: splits.train: rows: must be 200 by its parts, got 1000000",
        ),
        (
            lambda whole, train: train["shards"][0].update(clicks=99),
            "damaged: splits.train: clicks: must be 99 by its parts, got 7",
        ),
        (
            lambda whole, train: train["shards"][0].update(clicks=201),
            "damaged: splits.train.shards[0]: clicks 201 of 200 rows",
        ),
        (
            lambda whole, train: (
                train["shards"].append(train["shards"][0]),
                train.update(rows=400, clicks=14),
                whole.update(rows_written=400, rows_read=400),
            ),
            "damaged: 'Split-train/part.gz': listed twice",
        ),
        (
            lambda whole, train: whole.update(splits={"../x": train}),
            "damaged: split '../x': must be letters, digits, _ or -",
        ),
        (
            lambda whole, train: whole.update(splits={"eval": train}),
            "damaged: 'Split-train/part.gz': must lie in Split-eval",
        ),
        (
            lambda whole, train: train["shards"][0].update(file="."),
            "damaged: '.': must lie in Split-train",
        ),
        (
            lambda whole, train: train["shards"][0].update(file=""),
            "damaged: '': must lie in Split-train",
        ),
        (
            lambda whole, train: train["shards"][0].update(file="Split-train/"),
            "damaged: 'Split-train/': must lie in Split-train",
        ),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(tmp_path, change, fault):
    changed(tmp_path, change)
    with pytest.raises(DataError) as caught:
        list(verify_manifest(str(tmp_path)))
    assert str(caught.value) == f"{tmp_path}/manifest.json: {fault}"


def test_a_manifest_that_is_no_json_is_one_line(tmp_path):
    (tmp_path / "manifest.json").write_bytes(b"\xff{")
    with pytest.raises(DataError, match=r"manifest\.json: damaged: Invalid JSON"):
        read_manifest(str(tmp_path))


def test_a_file_of_another_size_with_the_same_rows_is_named(tmp_path):
    path = with_manifest(tmp_path)
    written = path.stat().st_size
    plain = frame_all(ROWS)
    path.write_bytes(plain)
    assert list(verify_manifest(str(tmp_path))) == [
        (
            "Split-train/part.gz",
            f"bytes {len(plain)} found, {written} in manifest.json",
        )
    ]


def test_shards_are_judged_by_the_manifest(tmp_path):
    path = with_manifest(tmp_path)
    assert list(verify_manifest(str(tmp_path))) == [("Split-train/part.gz", None)]
    (tmp_path / "Split-train" / "stray").write_text("x")
    fewer = gzip.compress(frame_all(ROWS[:-1]))
    path.write_bytes(fewer)  # whole, but not what was written
    faults = dict(verify_manifest(str(tmp_path)))
    assert faults["Split-train/part.gz"] == "rows 199 found, 200 in manifest.json"
    assert faults["Split-train/stray"] == "not listed in manifest.json"
    path.unlink()
    assert dict(verify_manifest(str(tmp_path)))["Split-train/part.gz"] == "absent"


def test_manifest_is_plain_json(tmp_path):
    with_manifest(tmp_path)
    content = json.loads((tmp_path / "manifest.json").read_text())
    assert content["splits"]["train"]["shards"][0]["rows"] == 200

"""Records read from staged copies are those of the files, also while storage stalls."""

import contextlib
import dataclasses
import functools
import os
import threading
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf

from components.config import TrainConfig
from components.preprocessing import LABEL
from components.record_source import read_records
from components.training_rows import PackedSplit, TrainingRows
from data import paths
from data.dataset import Dataset
from data.errors import ConfigError
from data.inputs import ModelInput
from data.packed import PackedColumn, PackedLayout
from data.packed_shards import write_packed
from data.settings import parse
from data.staging import StagedFiles, Stager

# Only a broken reader takes that long.
SAFETY_S = 60
# Records of the files; more files than are read at once, two of them empty.
COUNTS = (5, 1, 0, 7, 3, 9, 2, 0, 4, 6, 8, 1, 5)


@pytest.fixture
def files(tmp_path):
    """Files of records that say file and number, every second one compressed."""
    (tmp_path / "stored").mkdir()
    written = []
    for number, count in enumerate(COUNTS):
        written.append(str(tmp_path / "stored" / f"{number:02d}"))
        kind = "GZIP" if number % 2 else ""
        with tf.io.TFRecordWriter(written[-1], kind) as writer:
            for row in range(count):
                writer.write(f"{number}:{row}")
    return written


def staged(files, folder, limit=1 << 20):
    return StagedFiles(
        files=tuple(files),
        sizes=tuple(map(os.path.getsize, files)),
        folder=str(folder),
        limit_bytes=limit,
    )


def records(data):
    return [one.numpy() for one in data]


@pytest.mark.parametrize("block", [0, 2])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_order_is_that_without_staging(tmp_path, files, shuffle, block):
    for epoch in range(3):
        plain = read_records(files, block, shuffle, (7, epoch))
        copies = read_records(staged(files, tmp_path), block, shuffle, (7, epoch))

        assert copies.element_spec == plain.element_spec
        expected = records(plain)
        # Twice: each pass stages anew.
        for _ in range(2):
            found = records(copies)
            assert len(found) == len(expected)
            assert all(map(np.array_equal, found, expected))
        assert os.listdir(tmp_path) == ["stored"]


def test_copies_are_removed_when_a_pass_is_given_up(tmp_path, files):
    data = read_records(staged(files, tmp_path), 0, True, (7, 0))

    assert len(records(data.take(2).prefetch(1))) == 2

    assert os.listdir(tmp_path) == ["stored"]


@pytest.mark.parametrize("shuffle", [False, True])
def test_the_least_limit_suffices_and_is_never_passed(
    tmp_path, files, shuffle, monkeypatch
):
    sizes = sorted(map(os.path.getsize, files))
    limit = sum(sizes[-8:]) if shuffle else sizes[-1]
    open_read, held = paths.open_read, []

    def counting(path):
        (folder,) = tmp_path.glob("ctr-staging-*")
        there = os.path.getsize(path)
        for file in folder.iterdir():
            # The reader removes copies meanwhile.
            with contextlib.suppress(FileNotFoundError):
                there += file.stat().st_size
        held.append(there)
        return open_read(path)

    monkeypatch.setattr(paths, "open_read", counting)
    found = records(read_records(staged(files, tmp_path, limit), 0, shuffle, (7, 0)))

    assert Counter(found) == Counter(
        f"{number}:{row}".encode()
        for number, count in enumerate(COUNTS)
        for row in range(count)
    )
    assert len(held) == len(files)
    assert max(held) <= limit


def test_a_limit_below_the_files_read_at_once_is_refused(tmp_path, files):
    limit = sum(sorted(map(os.path.getsize, files))[-8:]) - 1

    with pytest.raises(ConfigError, match=r"^train\.staging\.limit_gib: .*8 largest"):
        read_records(staged(files, tmp_path, limit), 0, True, (7, 0))


def test_rows_that_are_staged_arrive_while_the_storage_stalls(
    tmp_path, files, monkeypatch
):
    stalled, goes_on = threading.Event(), threading.Event()
    open_read = paths.open_read

    def stalling(path):
        if path == files[5]:
            stalled.set()
            assert goes_on.wait(SAFETY_S)
        return open_read(path)

    monkeypatch.setattr(paths, "open_read", stalling)
    before = sum(COUNTS[:5])
    rows = iter(read_records(staged(files, tmp_path), 0, False, (0, 0)))

    first = [next(rows).numpy() for _ in range(before)]
    assert stalled.wait(SAFETY_S)
    goes_on.set()
    rest = [row.numpy() for row in rows]

    assert first + rest == records(read_records(files, 0, False, (0, 0)))


def test_the_error_names_the_file_that_was_cut(tmp_path, files, monkeypatch):
    once = functools.partial(Stager, pauses=())
    monkeypatch.setattr("components.record_source.Stager", once)
    given = staged(files, tmp_path)
    with open(files[3], "rb+") as file:
        file.truncate(20)

    with pytest.raises(tf.errors.UnknownError, match=f"DataError: {files[3]}: "):
        records(read_records(given, 0, False, (0, 0)))


DATASET = Dataset.model_validate(
    {
        "keys": {"label": "click"},
        "split": {"by": "hash", "columns": ["row"], "validate_fraction": 0.1},
        "features": [{"name": "row", "kind": "categorical", "buckets": 4999}],
    }
)
LAYOUT = PackedLayout(
    columns=(
        PackedColumn(name=LABEL, dtype="uint8"),
        PackedColumn(name="row", dtype="uint16"),
    )
)


def packed(folder, sizes):
    shards, first = [], 0
    for number, size in enumerate(sizes):
        rows = np.arange(first, first + size)
        batch = {LABEL: rows % 2, "row": rows}
        shards.append(write_packed(str(folder), str(number), LAYOUT, [batch], LABEL))
        first += size
    return PackedSplit(
        files=tuple(f"{folder}/{shard.file}" for shard in shards), shards=tuple(shards)
    )


def training_rows(tmp_path, **staging):
    return TrainingRows(
        dataset=DATASET,
        inputs=(ModelInput(name="row", kind="id", table="row", vocabulary_size=5000),),
        config=TrainConfig(
            batch_size=256,
            shuffle_rows=1024,
            staging={"folder": str(tmp_path / "copies"), **staging},
        ),
        train=packed(tmp_path / "train", [700, 300, 0, 1100, 900]),
        held_out=packed(tmp_path / "validate", [500, 300]),
    )


def batches(data):
    return [
        (inputs["row"].numpy().tolist(), *map(np.ndarray.tolist, map(np.asarray, rest)))
        for inputs, *rest in data
    ]


@pytest.mark.parametrize("epoch", [0, 1, 2])
def test_an_epoch_has_the_same_batches_with_staging(tmp_path, epoch):
    plain = training_rows(tmp_path, when="never")
    copies = training_rows(tmp_path, when="always")

    assert batches(copies.epoch(epoch)) == batches(plain.epoch(epoch))
    assert os.listdir(tmp_path / "copies") == []


def test_validation_has_the_same_batches_with_staging(tmp_path):
    plain = training_rows(tmp_path, when="never")
    copies = training_rows(tmp_path, when="always")

    assert batches(copies.validation()) == batches(plain.validation())
    assert os.listdir(tmp_path / "copies") == []


@pytest.mark.parametrize("when", ["remote", "never"])
def test_files_of_the_local_disk_are_staged_only_on_demand(tmp_path, when):
    rows = training_rows(tmp_path, when=when)

    rows.epoch(0).take(1).reduce(0, lambda count, _: count + 1)

    assert not (tmp_path / "copies").exists()


def test_remote_files_are_staged_unless_told_otherwise(tmp_path):
    local = training_rows(tmp_path)
    remote = dataclasses.replace(
        local.train, files=tuple(f"ram://{path}" for path in local.train.files)
    )
    for path, copy in zip(local.train.files, remote.files, strict=True):
        tf.io.gfile.makedirs(os.path.dirname(copy))
        tf.io.gfile.copy(path, copy, overwrite=True)
    rows = dataclasses.replace(local, train=remote)

    assert batches(rows.epoch(1)) == batches(local.epoch(1))
    assert (tmp_path / "copies").exists()


def test_copies_on_remote_storage_are_refused():
    with pytest.raises(
        ConfigError, match=r"staging\.folder: must be on the local disk"
    ):
        parse(TrainConfig, {"staging": {"folder": "gs://bucket/copies"}}, "a.yaml")


def test_a_checkpoint_outlives_a_change_of_staging(tmp_path):
    one = training_rows(tmp_path, when="never")
    other = training_rows(tmp_path, when="always", limit_gib=3)

    assert one.fingerprint() == other.fingerprint()

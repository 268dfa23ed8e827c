"""Packed shards give the same batches as rows, each row once, in a random order."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from components import input_fn
from components.packed_input_fn import damage_named, dataset
from data.errors import DataError
from data.inputs import ModelInput
from data.packed import PackedColumn, PackedLayout
from data.packed_shards import write_packed
from data.records import frame

INPUTS = (
    ModelInput(name="row", kind="id", table="row", vocabulary_size=70_000),
    ModelInput(name="list", kind="ids", length=3, table="row", vocabulary_size=70_000),
    ModelInput(name="far", kind="id", table="far", vocabulary_size=2**24),
    ModelInput(name="price", kind="number"),
    ModelInput(name="image", kind="vector", length=2),
)
LAYOUT = PackedLayout(
    columns=(
        PackedColumn(name="label", dtype="uint8"),
        PackedColumn(name="weight", dtype="float32"),
        PackedColumn(name="user", dtype="int64"),
        PackedColumn(name="row", dtype="uint24"),
        PackedColumn(name="list", dtype="uint24", width=3, lists=True),
        PackedColumn(name="far", dtype="uint24"),
        PackedColumn(name="price", dtype="float32"),
        PackedColumn(name="image", dtype="float32", width=2),
    )
)


def columns(first, count):
    number = np.arange(first, first + count)
    lists = np.stack([number, number + 1, number + 2], axis=1)
    # Lengths 0 to 3.
    lists[np.arange(3) >= (number % 4)[:, None]] = 0
    return {
        "label": number % 2,
        "weight": (1 + number % 3).astype(np.float32),
        "user": -number,
        "row": number,
        "list": lists,
        "far": 2**24 - 1 - 8000 * (number % 2000),
        "price": (number / 2).astype(np.float32),
        "image": np.stack([number, -number], axis=1).astype(np.float32),
    }


def write(folder, bounds, compress=True):
    """Rows numbered through, cut into shards at the bounds."""
    files = []
    for shard, (first, last) in enumerate(itertools.pairwise(bounds)):
        batches = [columns(first, last - first)]
        write_packed(
            str(folder), str(shard), LAYOUT, batches, "label", compress=compress
        )
        files.append(str(folder / str(shard)))
    return files


def write_rows(path, count):
    """The same rows, a tf.Example each."""
    data = columns(0, count)
    with tf.io.TFRecordWriter(str(path), "GZIP") as writer:
        for row in range(count):
            feature = {}
            for name, values in data.items():
                value = values[row].reshape(-1)
                feature[name] = (
                    tf.train.Feature(float_list=tf.train.FloatList(value=value))
                    if values.dtype.kind == "f"
                    else tf.train.Feature(int64_list=tf.train.Int64List(value=value))
                )
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """2,003 rows in four shards, of which one is empty and one has a single row."""
    folder = tmp_path_factory.mktemp("packed")
    return write(folder, [0, 1200, 1200, 1201, 2003])


def read(files, **options):
    return dataset(files, INPUTS, "label", batch_size=100, **options)


def rows_of(data):
    return [features["row"].numpy() for features, _, _ in data]


def test_batches_equal_those_of_rows(tmp_path, files):
    rows = write_rows(tmp_path / "rows", 2003)
    arguments = (INPUTS, "label", "weight", "user")

    packed = dataset(files, *arguments, batch_size=128)
    plain = input_fn.dataset([rows], *arguments, batch_size=128)

    assert packed.element_spec == plain.element_spec
    for left, right in zip(packed, plain, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, left, right)


def test_weights_are_one_without_a_weight_column(files):
    _, _, weight = next(iter(read(files)))

    np.testing.assert_array_equal(weight, np.ones(100))


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("bounds", [[0, 1], [0, 0, 257], [0, 255, 256, 700, 1111]])
def test_an_epoch_holds_every_row_once_and_the_tail(tmp_path, bounds, compress):
    files = write(tmp_path, bounds, compress)

    for shuffle_rows in (0, 1, 300, 10_000):
        for seed, epoch in [(0, 0), (-7, 3)]:
            batches = rows_of(
                read(files, shuffle_rows=shuffle_rows, seed=seed, epoch=epoch)
            )
            whole, tail = divmod(bounds[-1], 100)
            expected = [100] * whole + [tail] * (tail > 0)
            assert [len(batch) for batch in batches] == expected
            assert sorted(np.concatenate(batches)) == list(range(bounds[-1]))


def test_columns_of_a_row_stay_together_when_shuffled(files):
    data = dataset(
        files, INPUTS, "label", "weight", "user", batch_size=64, shuffle_rows=5000
    )

    for features, label, weight, user in data:
        for name, found in {
            **features,
            "label": label,
            "weight": weight,
            "user": user,
        }.items():
            expected = columns(0, 2003)[name][features["row"].numpy()]
            np.testing.assert_array_equal(found, expected)


def test_without_shuffling_rows_come_in_the_order_of_the_files(files):
    rows = np.concatenate(rows_of(read(files[::-1])))

    assert rows.tolist() == [*range(1201, 2003), 1200, *range(1200)]


def test_order_depends_on_seed_and_epoch_alone(files):
    def order(seed, epoch):
        data = read(files, shuffle_rows=3000, seed=seed, epoch=epoch)
        return np.concatenate(rows_of(data)).tolist()

    first = order(1, 0)
    tf.random.set_seed(99)
    assert order(1, 0) == first
    assert len({tuple(order(*one)) for one in [(1, 0), (1, 1), (2, 0), (0, 1)]}) == 4


def test_neighbours_are_unrelated_after_shuffling(tmp_path):
    files = write(tmp_path, range(0, 65_001, 16_250))

    rows = np.concatenate(rows_of(read(files, shuffle_rows=65_000, seed=3)))

    # Rows are numbered, so the correlation of numbers is that of ranks. For a random
    # order its standard error is 1 / sqrt(65,000) = 0.004; groups of 128 of the 254
    # blocks add up to 1/128.
    assert abs(np.corrcoef(rows[:-1], rows[1:])[0, 1]) < 0.02


def test_a_shard_of_another_layout_is_refused(tmp_path, files):
    other = PackedLayout(columns=LAYOUT.columns[::-1])
    write_packed(str(tmp_path), "other", other, [columns(0, 5)], "label")

    with pytest.raises(tf.errors.InvalidArgumentError, match="another layout"):
        list(read([files[0], str(tmp_path / "other")]))


def test_files_of_rows_and_absent_columns_are_refused(tmp_path, files):
    (tmp_path / "rows").write_bytes(frame(b"no block"))

    with pytest.raises(DataError, match="holds no packed rows"):
        read([str(tmp_path / "rows")])
    with pytest.raises(DataError, match="no column 'clicked' among"):
        dataset(files, INPUTS, "clicked", batch_size=10)
    with pytest.raises(DataError, match="no files to read rows from"):
        read([])


@pytest.mark.parametrize("compress", [True, False])
def test_damage_met_while_reading_is_named_by_file_and_block(tmp_path, compress):
    files = write(tmp_path, [0, 600, 1200], compress)
    content = bytearray((tmp_path / "1").read_bytes())
    content[-20] ^= 1
    (tmp_path / "1").write_bytes(content)

    place = "damaged compression" if compress else r"record 2 \(from 0\)"
    with pytest.raises(DataError, match=rf"/1: .*{place}"), damage_named(files):
        list(read(files))

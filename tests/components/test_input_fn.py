import gzip
import zlib

import numpy as np
import pytest
import tensorflow as tf

from components.input_fn import dataset
from components.record_source import compression_of
from data.errors import DataError
from data.inputs import ModelInput

INPUTS = (
    ModelInput(name="row", kind="id", table="row", vocabulary_size=10_000),
    ModelInput(name="list", kind="ids", length=3, table="row", vocabulary_size=10_000),
    ModelInput(name="price", kind="number"),
    ModelInput(name="image", kind="vector", length=2),
)


def example(row):
    ints = {"row": [row], "list": [row, row + 1, 0], "label": [row % 2]}
    floats = {"price": [row / 2], "image": [row, -row], "weight": [1 + row % 3]}
    feature = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        for name, values in ints.items()
    } | {
        name: tf.train.Feature(float_list=tf.train.FloatList(value=values))
        for name, values in floats.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


def write(path, rows, compression="GZIP"):
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for row in rows:
            writer.write(example(row).SerializeToString())
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """1,003 rows, numbered through, in four shards of which one is empty."""
    folder = tmp_path_factory.mktemp("shards")
    bounds = [0, 400, 400, 900, 1003]
    return [
        write(folder / f"{shard}.gz", range(bounds[shard], bounds[shard + 1]))
        for shard in range(4)
    ]


def rows_of(data):
    return [features["row"].numpy() for features, _, _ in data]


def read(files, **options):
    return dataset(files, INPUTS, "label", batch_size=100, **options)


def test_a_batch_holds_typed_inputs_label_and_weight(files):
    data = dataset(files, INPUTS, "label", "weight", batch_size=4)

    features, label, weight = next(iter(data))

    np.testing.assert_array_equal(features["row"], [0, 1, 2, 3])
    np.testing.assert_array_equal(
        features["list"], [[0, 1, 0], [1, 2, 0], [2, 3, 0], [3, 4, 0]]
    )
    np.testing.assert_array_equal(features["price"], [0, 0.5, 1, 1.5])
    np.testing.assert_array_equal(
        features["image"], [[0, 0], [1, -1], [2, -2], [3, -3]]
    )
    np.testing.assert_array_equal(label, [0, 1, 0, 1])
    np.testing.assert_array_equal(weight, [1, 2, 3, 1])
    assert {name: one.dtype for name, one in features.items()} == {
        "row": tf.int64,
        "list": tf.int64,
        "price": tf.float32,
        "image": tf.float32,
    }
    assert label.dtype == weight.dtype == tf.float32


def test_lists_of_any_length_are_padded_and_cut(tmp_path):
    lists = [[], [7], [1, 2, 3], [4, 0, 5, 6]]
    with tf.io.TFRecordWriter(str(tmp_path / "rows")) as writer:
        for row, values in enumerate(lists):
            one = example(row)
            one.features.feature["list"].int64_list.value[:] = values
            writer.write(one.SerializeToString())

    features, _, _ = next(iter(read([str(tmp_path / "rows")])))

    np.testing.assert_array_equal(
        features["list"], [[0, 0, 0], [7, 0, 0], [1, 2, 3], [4, 0, 5]]
    )


def test_the_user_stands_behind_the_weight_where_it_is_named(files):
    data = dataset(files, INPUTS, "label", None, "row", batch_size=4)

    _, _, weight, user = next(iter(data))

    np.testing.assert_array_equal(weight, np.ones(4))
    np.testing.assert_array_equal(user, [0, 1, 2, 3])
    assert user.dtype == tf.int64


def test_weights_are_one_without_a_weight_column(files):
    _, _, weight = next(iter(read(files)))

    np.testing.assert_array_equal(weight, np.ones(100))


@pytest.mark.parametrize("shuffle_rows", [0, 150, 10_000])
def test_an_epoch_holds_every_row_once_and_the_tail(files, shuffle_rows):
    batches = rows_of(read(files, shuffle_rows=shuffle_rows))

    # 1,003 rows in batches of 100.
    assert [len(batch) for batch in batches] == [100] * 10 + [3]
    assert sorted(np.concatenate(batches)) == list(range(1003))


def test_the_batch_dimension_stays_open(files):
    features, label, weight = read(files).element_spec

    assert features["list"].shape.as_list() == [None, 3]
    assert label.shape.as_list() == weight.shape.as_list() == [None]


def test_without_shuffling_rows_come_in_the_order_of_the_files(files):
    rows = np.concatenate(rows_of(read(files[::-1])))

    assert rows.tolist() == [*range(900, 1003), *range(400, 900), *range(400)]


def test_order_depends_on_seed_and_epoch_alone(files):
    def order(seed, epoch):
        data = read(files, shuffle_rows=300, seed=seed, epoch=epoch)
        return np.concatenate(rows_of(data)).tolist()

    assert order(1, 0) == order(1, 0)
    assert len({tuple(order(*one)) for one in [(1, 0), (1, 1), (2, 0), (0, 1)]}) == 4


def test_neighbours_are_unrelated_after_shuffling(tmp_path):
    files = [
        write(tmp_path / str(shard), range(shard * 2500, shard * 2500 + 2500))
        for shard in range(4)
    ]

    rows = np.concatenate(rows_of(read(files, shuffle_rows=10_000, seed=3)))

    # For a random order the correlation has a standard error of 1 / sqrt(10,000).
    assert abs(np.corrcoef(rows[:-1], rows[1:])[0, 1]) < 0.04


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB", ""])
def test_compression_is_told_by_the_first_bytes(tmp_path, compression):
    path = write(tmp_path / "rows", range(30), compression)

    assert compression_of(path) == compression
    assert len(np.concatenate(rows_of(read([path])))) == 30


@pytest.mark.parametrize(
    ("content", "compression"),
    [
        (b"", ""),
        (gzip.compress(b""), "GZIP"),
        (zlib.compress(b"", 9), "ZLIB"),
        # A record of 0x9c78 bytes: low bytes like a ZLIB header, upper bytes 0.
        (b"\x78\x9c" + bytes(10), ""),
    ],
)
def test_files_without_rows_and_odd_lengths_are_told_apart(
    tmp_path, content, compression
):
    (tmp_path / "file").write_bytes(content)

    assert compression_of(str(tmp_path / "file")) == compression


def test_no_files_is_an_error():
    with pytest.raises(DataError, match="no files to read rows from"):
        read([])

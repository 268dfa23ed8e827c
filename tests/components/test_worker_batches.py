"""How workers share the input: all rows once, the same number of steps for each."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from components.worker_batches import by_files, by_rows, deal


def context(worker, workers, replicas):
    return tf.distribute.InputContext(workers, worker, replicas)


def numbered(first, last, size):
    rows = np.arange(first, last)
    data = tf.data.Dataset.from_tensor_slices(
        ({"id": rows}, (rows % 2).astype(np.float32), np.ones(len(rows), np.float32))
    )
    return data.batch(size)


def ids(data):
    return [element[0]["id"].numpy().tolist() for element in data]


def test_a_single_replica_gets_the_batches_themselves():
    data = by_rows(lambda epoch: numbered(0, 10 + epoch, 4))(1, context(0, 1, 1))

    assert ids(data) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]


def test_replicas_of_two_workers_get_the_parts_of_each_batch_in_order():
    read = by_rows(lambda _: numbered(0, 13, 8))

    # 13 rows: a batch of 8 and one of 5, each in four parts.
    assert ids(read(0, context(0, 2, 4))) == [[0, 1], [2, 3], [8], [9]]
    assert ids(read(0, context(1, 2, 4))) == [[4, 5], [6, 7], [10], [11, 12]]


def test_a_last_batch_smaller_than_the_replicas_leaves_empty_parts():
    read = by_rows(lambda _: numbered(0, 9, 8))

    parts = [ids(read(0, context(worker, 2, 2))) for worker in (0, 1)]
    assert parts == [[[0, 1, 2, 3], []], [[4, 5, 6, 7], [8]]]


def test_shards_are_dealt_out_by_rows():
    files = [("a", 5), ("b", 9), ("c", 0), ("d", 4), ("e", 1)]

    assert deal(files, 2) == [[("b", 9), ("e", 1)], [("a", 5), ("d", 4)]]
    assert deal(files, 1) == [[("a", 5), ("b", 9), ("d", 4), ("e", 1)]]
    assert deal([("a", 3)], 3) == [[("a", 3)], [], []]


@settings(deadline=None, max_examples=25)
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=5).filter(any),
    workers=st.integers(1, 4),
    local=st.integers(1, 2),
    batch=st.integers(1, 16),
)
def test_every_row_is_read_once_and_no_worker_waits(sizes, workers, local, batch):
    starts = np.concatenate([[0], np.cumsum(sizes)])
    files = [(str(number), size) for number, size in enumerate(sizes)]

    def read(_, own, size):
        rows = [
            np.arange(starts[int(name)], starts[int(name) + 1], dtype=np.int64)
            for name in own
        ]
        rows = np.concatenate(rows)
        return tf.data.Dataset.from_tensor_slices(({"id": rows}, rows, rows)).batch(
            size
        )

    both = [
        by_files(files, batch, read),
        by_rows(lambda epoch: read(epoch, [name for name, _ in files], batch)),
    ]
    for batches in both:
        found = [
            ids(batches(0, context(worker, workers, workers * local)))
            for worker in range(workers)
        ]
        assert len({len(elements) for elements in found}) == 1
        assert len(found[0]) % local == 0
        read_rows = [row for elements in found for part in elements for row in part]
        assert sorted(read_rows) == list(range(sum(sizes)))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_without_shards_get_empty_batches_of_the_same_form(workers):
    read = by_files([("0", 5)], 4, lambda *_: numbered(0, 5, 2))

    for worker in range(workers):
        data = read(0, context(worker, workers, workers))
        inputs, label, weight = data.element_spec
        assert (inputs["id"].shape, label.dtype, weight.dtype) == (
            (None,),
            tf.float32,
            tf.float32,
        )
        assert (worker == 0) == any(ids(data))

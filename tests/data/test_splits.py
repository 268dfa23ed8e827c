"""Splits by hash and by time, against plain definitions."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from data.mixing import shard_counts, spread
from data.splits import (
    count_border,
    day_border,
    hash_fractions,
    share_of,
    tie_border,
)


def binary(*values):
    return pa.array(list(values), pa.binary())


def test_fraction_is_the_published_hash():
    digest = hashlib.blake2b(b"salt\0u1", digest_size=8).digest()
    expected = (int.from_bytes(digest, "big") >> 11) / 2**53
    assert hash_fractions([binary(b"u1")], "salt").tolist() == [expected]


def test_fractions_are_uniform_and_depend_on_the_key_alone():
    keys = binary(*[str(i % 5000).encode() for i in range(10_000)])
    fractions = hash_fractions([keys], "")
    assert (fractions[:5000] == fractions[5000:]).all()
    # Standard error of a share of one half over 5000 keys is 0.7 %.
    assert abs((fractions < 0.5).mean() - 0.5) < 0.03
    other = hash_fractions([keys], "other")
    assert abs(np.corrcoef(fractions, other)[0, 1]) < 0.05


def test_two_columns_are_one_key():
    pairs = hash_fractions([binary(b"a", b"ab"), binary(b"bc", b"c")], "")
    assert pairs[0] != pairs[1]


def test_last_days_start_at_midnight():
    day = 86_400
    # Latest row on day 9 at noon: the last two days are 8 and 9.
    assert day_border(9 * day + day // 2, 2) == 8 * day


@pytest.mark.parametrize("fraction", [0.01, 0.2, 0.5, 0.9])
def test_border_by_count_is_exact(fraction):
    rng = np.random.default_rng(1)
    times = rng.integers(0, 20, 137)
    seconds, counts = np.unique(times, return_counts=True)
    border = count_border(seconds, counts, share_of(137, fraction))
    behind = int((times > border.second).sum())
    assert behind + border.of_this_second == int(137 * fraction + 0.5)
    assert 0 < border.of_this_second <= int((times == border.second).sum())


def test_neither_side_is_ever_empty():
    assert (share_of(2, 0.001), share_of(2, 0.999)) == (1, 1)
    assert (share_of(10, 0.25), share_of(10, 0.24)) == (3, 2)  # half up
    border = count_border(np.array([5]), np.array([2]), 1)
    assert (border.second, border.of_this_second) == (5, 1)
    border = count_border(np.array([5, 6]), np.array([1, 1]), 1)
    assert (border.second, border.of_this_second) == (6, 1)


def test_ties_are_cut_by_numbers_where_all_are_numbers():
    rows = [
        ((value,), (0, 0, index)) for index, value in enumerate([b"9", b"10", b"2"])
    ]
    border = tie_border(rows, 1)
    assert [border.is_behind(row) for row in rows] == [False, True, False]
    texts = [
        ((value,), (0, 0, index)) for index, value in enumerate([b"9", b"10", b"x"])
    ]
    border = tie_border(texts, 2)
    assert [border.is_behind(row) for row in texts] == [True, False, True]


def test_ties_that_nothing_breaks_are_cut_by_position():
    rows = [((b"same",), (0, 0, index)) for index in range(5)]
    border = tie_border(rows, 2)
    assert [border.is_behind(row) for row in rows] == [False, False, False, True, True]
    assert not tie_border(rows, 0).is_behind(rows[-1])


def test_rows_spread_evenly_and_without_the_logs_period():
    shards = spread(1000, 4, seed=3)
    assert np.bincount(shards).tolist() == [250] * 4
    assert (shards == spread(1000, 4, seed=3)).all()
    assert (shards != spread(1000, 4, seed=4)).any()
    # A page of four positions: each shard gets about a quarter of every position.
    positions = np.arange(1000) % 4
    table = np.zeros((4, 4))
    np.add.at(table, (shards, positions), 1)
    assert table.min() > 35  # 62.5 expected, standard deviation below 7


def test_shard_counts():
    splits = ("train", "eval")
    assert shard_counts(None, 100, splits) == {"train": 4, "eval": 2}
    assert shard_counts(None, 80 * 128 * 2**20, splits) == {"train": 80, "eval": 20}
    assert shard_counts(1, 100, splits) == {"train": 1, "eval": 1}
    three = ("train", "validate", "eval")
    assert shard_counts(8, 100, three) == {"train": 8, "validate": 2, "eval": 2}

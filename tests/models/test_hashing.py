"""Which rows an id reads, and how many values share all of them."""

import math

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.hashing import MULTIPLIERS, hashed_rows

LARGEST = 2**63 - 1
VALUES = 100_000


def rows_by_hand(fingerprint, buckets, hashes):
    """The formula in Python's integers, which have no end to wrap at."""
    if fingerprint == 0:
        return [0] * hashes
    uppers = [fingerprint * factor % 2**64 // 2**32 for factor in MULTIPLIERS[:hashes]]
    return [1 + upper * buckets // 2**32 for upper in uppers]


@settings(max_examples=50, deadline=None)
@given(
    ids=st.lists(st.integers(0, LARGEST), min_size=1, max_size=20),
    buckets=st.integers(2, 2**31),
    hashes=st.integers(1, 4),
)
def test_rows_are_those_of_exact_integers(ids, buckets, hashes):
    rows = hashed_rows(tf.constant(ids, tf.int64), buckets, hashes).numpy()

    assert rows.tolist() == [rows_by_hand(one, buckets, hashes) for one in ids]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_graph_gives_the_same_rows_at_the_ends_of_the_range(compiled):
    ids = [[0, 1], [2**62, LARGEST]]
    graph = tf.function(lambda x: hashed_rows(x, 2**31, 4), jit_compile=compiled)

    rows = graph(tf.constant(ids, tf.int64)).numpy()

    assert rows.tolist() == [
        [rows_by_hand(one, 2**31, 4) for one in line] for line in ids
    ]
    assert rows[1, 0].min() >= 1
    assert rows.max() <= 2**31


def colliding_pairs(buckets, hashes):
    """Pairs among ``VALUES`` texts whose vectors are the sum of the same rows."""
    texts = tf.strings.as_string(tf.range(VALUES))
    ids = tf.strings.to_hash_bucket_fast(texts, LARGEST) + 1
    rows = np.sort(hashed_rows(ids, buckets, hashes).numpy(), axis=1)
    _, counts = np.unique(rows, axis=0, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


# A power of two and one that is not, since hashes often fail on one of them only.
@pytest.mark.parametrize("buckets", [1000, 1024, 50_000, 2**17])
@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_as_many_values_share_all_rows_as_independent_hashes_would_let(buckets, hashes):
    # Any pair shares all k rows, in any order, with probability k! / B^k (nearly: a
    # value can meet a row twice). The number of pairs is about Poisson distributed.
    expected = math.comb(VALUES, 2) * math.factorial(hashes) / buckets**hashes

    pairs = colliding_pairs(buckets, hashes)

    assert abs(pairs - expected) <= 5 * math.sqrt(expected) + 3


def test_two_hashes_tell_apart_what_one_confuses_in_the_same_table():
    # As many rows as values: with one hash 5 10^9 pairs share a row with probability
    # 10^-5, about 50,000. With two, 2 10^-10: about one pair.
    assert colliding_pairs(VALUES, 1) > 45_000
    assert colliding_pairs(VALUES, 2) < 10

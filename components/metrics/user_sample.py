"""A bounded sample of users with all their rows, and AUC by user, as TensorFlow ops.

The sample is a threshold on a hash of the user, as in distinct sampling: a user is in
it with all rows or with none, and who is in depends on the set of rows alone.

Shape legend: N rows, U users, T runs of rows with one user and one score.

References:
    Gibbons, Distinct sampling for highly-accurate answers to distinct values queries,
    VLDB 2001.
"""

from typing import Any, NamedTuple

import tensorflow as tf

# A sample holds users of at most this part of the table, so it never ends with one.
LARGEST_PART = 16
_LOWEST = -(1 << 63)
# Level k keeps the users whose hash is among the lowest 2**(64 - k) of all int64.
_BOUNDS = [_LOWEST + (1 << (64 - level)) - 1 for level in range(65)]


class Rows(NamedTuple):
    """Rows of several users.

    Attributes:
        users: int64 [N], hash of the user.
        scores: float [N].
        clicks: float [N], 1 or 0.
        weights: float [N], above 0.
    """

    users: Any
    scores: Any
    clicks: Any
    weights: Any

    def where(self, mask: Any) -> "Rows":
        """The rows that a mask [N] picks."""
        return Rows(*(tf.boolean_mask(column, mask) for column in self))


class Sample(NamedTuple):
    """What a table holds.

    Attributes:
        rows: rows of the users in the sample, except the large ones.
        large: int64 [?], hashes of users that outgrew their part of the table.
        level: int64 scalar, a user is in the sample with chance 2**-level.
    """

    rows: Rows
    large: Any
    level: Any


class UserAucs(NamedTuple):
    """One entry a user, in the order of the hashes.

    Attributes:
        auc: float64 [U], 0 where undefined.
        mass: float64 [U], weight of the user in GAUC; 0 where AUC is undefined.
    """

    auc: Any
    mass: Any

    def gauc(self) -> Any:
        """Mean AUC by mass, float64 scalar; NaN without any mass."""
        return tf.reduce_sum(self.mass * self.auc) / tf.reduce_sum(self.mass)


def hash_ids(ids: Any) -> Any:
    """Mixes ids so that nearby ones are far apart; different ids stay different.

    Args:
        ids: int64 [N].

    Returns:
        int64 [N], the finaliser of SplitMix64, which is a bijection.

    References:
        Steele, Lea, Flood: Fast splittable pseudorandom number generators. OOPSLA 2014.
    """
    mixed = _xor_shifted(ids, 30) * (0xBF58476D1CE4E5B9 + 2 * _LOWEST)
    mixed = _xor_shifted(mixed, 27) * (0x94D049BB133111EB + 2 * _LOWEST)
    return _xor_shifted(mixed, 31)


def _xor_shifted(values: Any, bits: int) -> Any:
    """``v ^ (v >>> bits)`` of int64, the shift filling up with zeros."""
    shifted = tf.bitwise.right_shift(values, tf.constant(bits, tf.int64))
    mask = tf.constant((1 << (64 - bits)) - 1, tf.int64)
    return tf.bitwise.bitwise_xor(values, tf.bitwise.bitwise_and(shifted, mask))


def in_sample(sample: Sample, users: Any) -> Any:
    """Which rows belong to the sample.

    Args:
        sample: what is held so far.
        users: int64 [N], hashes of further rows.

    Returns:
        bool [N]; False for users that are not sampled, or too large.
    """
    bound = tf.gather(tf.constant(_BOUNDS, tf.int64), sample.level)
    is_large = tf.reduce_any(tf.equal(users[:, None], sample.large[None, :]), axis=1)
    return (users <= bound) & ~is_large


def shrunk(sample: Sample, capacity: int) -> Sample:
    """The sample at the lowest level at which it fits into the table again.

    A user counts with its rows, but at most with a part of the table. One that has more
    is dropped and goes on to count with that part. So what a level needs never falls
    while rows come in, and the last level is the same in whatever order they came.
    It ends: the hashes differ, so the last level holds one user at most.

    Args:
        sample: with any number of rows.
        capacity: rows of the table.

    Returns:
        A sample that fits.
    """
    part = capacity // LARGEST_PART
    users, index, counts = tf.unique_with_counts(sample.rows.users, tf.int64)
    is_large = counts > part
    large = tf.concat([sample.large, tf.boolean_mask(users, is_large)], axis=0)
    hashes = tf.concat([tf.boolean_mask(users, ~is_large), large], axis=0)
    needs = tf.concat(
        [tf.boolean_mask(counts, ~is_large), tf.fill(tf.shape(large), _int64(part))],
        axis=0,
    )
    order = tf.argsort(hashes)
    needed = tf.concat([[_int64(0)], tf.cumsum(tf.gather(needs, order))], axis=0)
    bounds = tf.constant(_BOUNDS, tf.int64)
    below = tf.searchsorted(tf.gather(hashes, order), bounds, side="right")
    fits = tf.gather(needed, below) <= capacity
    # argmax gives the first of equal values: the lowest level that fits.
    level = tf.maximum(sample.level, tf.argmax(tf.cast(fits, tf.int32)))
    bound = tf.gather(bounds, level)
    kept = (sample.rows.users <= bound) & ~tf.gather(is_large, index)
    return Sample(
        sample.rows.where(kept), tf.boolean_mask(large, large <= bound), level
    )


def without_large(rows: Rows, part: Any) -> tuple[Rows, Any]:
    """Leaves out users with many rows.

    Args:
        rows: in any order.
        part: most rows of a user, int64 scalar.

    Returns:
        The other rows, and the number of users left out, int64 scalar.
    """
    _, index, counts = tf.unique_with_counts(rows.users, tf.int64)
    is_large = counts > part
    return (
        rows.where(~tf.gather(is_large, index)),
        tf.reduce_sum(tf.cast(is_large, tf.int64)),
    )


def _int64(value: int) -> Any:
    return tf.constant(value, tf.int64)


def user_aucs(rows: Rows, user_weight: str) -> UserAucs:
    """AUC and mass of each user by one sort and segment sums.

    Args:
        rows: in any order; the result is the same to the last bit.
        user_weight: ``impressions`` (pairs inside a user are then unweighted),
            ``clicks``, ``users`` or ``weight``.

    Returns:
        One entry a user.
    """
    by_rows = user_weight == "impressions"
    # Whole numbers add up without rounding; weights need one order of their own.
    keys = () if by_rows else (rows.weights, rows.clicks)
    order = tf.range(tf.shape(rows.users)[0])
    for key in (*keys, rows.scores, rows.users):
        order = tf.gather(order, tf.argsort(tf.gather(key, order), stable=True))
    users, scores, clicks, weights = (tf.gather(column, order) for column in rows)
    clicks, weights = tf.cast(clicks, tf.float64), tf.cast(weights, tf.float64)
    if by_rows:
        weights = tf.ones_like(weights)
    new_user = _differs(users)
    user = tf.cumsum(tf.cast(new_user, tf.int64)) - 1  # [N]
    tie = tf.cumsum(tf.cast(new_user | _differs(scores), tf.int64)) - 1  # [N]
    counts = tf.math.segment_sum(tf.ones_like(user), user)  # [U]
    largest = tf.math.segment_max(weights, user)  # [U]
    # An AUC does not change with the scale; sums of shares of the user's largest
    # weight keep their digits beside users with far larger weights.
    shares = weights / tf.gather(largest, user)
    positive = tf.math.segment_sum(shares * clicks, tie)  # [T]
    negative = tf.math.segment_sum(shares * (1 - clicks), tie)  # [T]
    user_of_tie = tf.math.segment_max(user, tie)  # [T]
    before = tf.cumsum(negative, exclusive=True)
    below = before - tf.gather(tf.math.segment_min(before, user_of_tie), user_of_tie)
    won = tf.math.segment_sum(positive * (below + 0.5 * negative), user_of_tie)
    all_positive = tf.math.segment_sum(positive, user_of_tie)  # [U]
    all_negative = tf.math.segment_sum(negative, user_of_tie)  # [U]
    pairs = all_positive * all_negative
    masses = {
        "impressions": tf.cast(counts, tf.float64),
        "clicks": all_positive * largest,
        "users": tf.ones_like(largest),
        "weight": (all_positive + all_negative) * largest,
    }
    mass = tf.where(pairs > 0, masses[user_weight], tf.zeros_like(pairs))
    return UserAucs(tf.math.divide_no_nan(won, pairs), mass)


def _differs(values: Any) -> Any:
    """Whether a value differs from the one before, bool [N]; the first one does."""
    return tf.concat([tf.ones_like(values[:1], tf.bool), values[1:] != values[:-1]], 0)

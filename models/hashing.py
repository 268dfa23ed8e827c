"""Several rows of a table for one id, chosen by independent hashes.

With one hash two values that share a row cannot be told apart. With k hashes they can,
unless all k rows agree: of n values in B buckets about n^2 k! / (2 B^k) pairs do.

References:
    Svenstrup et al., 2017, https://arxiv.org/abs/1709.03933 (hash embeddings: a
    weighted sum of k rows of a shared table); Serrà and Karatzoglou, 2017,
    https://arxiv.org/abs/1706.03993 (Bloom embeddings: the plain sum, as here, which
    keeps no weights for each value).
"""

from typing import Any

import tensorflow as tf

# The first four 64-bit words of the fraction of pi that are odd and below 2^63: odd
# ones lose no bit of the id, and an int64 holds them.
MULTIPLIERS = (
    0x243F6A8885A308D3,
    0x082EFA98EC4E6C89,
    0x452821E638D01377,
    0x3F84D5B5B5470917,
)
_LOW_32 = 2**32 - 1


def hashed_rows(ids: Any, buckets: int, hashes: int) -> Any:
    """The rows that each id reads.

    Hash j is the upper half of ``id * MULTIPLIERS[j]`` modulo 2^64, scaled from
    0 .. 2^32 - 1 to the buckets by another multiplication, which is cheaper than a
    division. Integers only, so training and serving agree on any machine; int64,
    because accelerators lack kernels for uint64.

    Args:
        ids: int64, any shape; fingerprints, 0 = absent.
        buckets: number of rows without row 0, at most 2^31.
        hashes: k, at most ``len(MULTIPLIERS)``.

    Returns:
        int64 [..., k], 1 .. buckets, or 0 for id 0.

    References:
        Dietzfelbinger et al., 1997, https://doi.org/10.1006/jagm.1997.0873
        (multiply-shift); Lemire, 2019, https://arxiv.org/abs/1805.10941 (scaling).
    """
    ids = ids[..., tf.newaxis]
    products = ids * tf.constant(MULTIPLIERS[:hashes], tf.int64)  # wraps at 2^64
    upper = tf.bitwise.bitwise_and(tf.bitwise.right_shift(products, 32), _LOW_32)
    rows = 1 + tf.bitwise.right_shift(upper * buckets, 32)
    return tf.where(ids > 0, rows, tf.zeros_like(rows))

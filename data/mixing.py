"""Spreading the rows of a batch over shards."""

from collections.abc import Sequence

import numpy as np

from data.arrays import Ints, Values

# Shards of 64 to 256 MiB are large enough to stream and small enough to shuffle.
TARGET_SHARD_BYTES = 128 << 20
MIN_TRAIN_SHARDS = 4
MIN_EVAL_SHARDS = 2
# What is held out is usually a fifth of the rows.
TRAIN_SHARDS_PER_EVAL_SHARD = 4


def shard_counts(
    declared: int | None, input_bytes: int, splits: Sequence[str]
) -> dict[str, int]:
    """How many shards each split gets.

    Args:
        declared: shards of the train split, or None.
        input_bytes: size of the log, which its rows' size is near to.
        splits: names of the splits.

    Returns:
        Shards by split; never one file unless declared so.
    """
    train = declared or max(MIN_TRAIN_SHARDS, -(-input_bytes // TARGET_SHARD_BYTES))
    least = min(MIN_EVAL_SHARDS, train)
    held_out = max(least, train // TRAIN_SHARDS_PER_EVAL_SHARD)
    return {split: train if split == "train" else held_out for split in splits}


def spread(rows: int, shards: int, seed: int) -> Ints:
    """A shard for each row of a batch: even, and in no pattern of the log.

    Rows dealt out in turn would put every n-th row (one position of a page, say) into
    one shard; so they are dealt out in a shuffled order that depends on the seed only.

    Args:
        rows: rows of the batch.
        shards: number of shards.
        seed: number of the batch.

    Returns:
        [rows] int64 shard numbers; no shard gets two rows more than another.
    """
    order = np.argsort(_mix(np.arange(rows, dtype=np.uint64), seed), kind="stable")
    assigned = np.empty(rows, np.int64)
    assigned[order] = (np.arange(rows) + seed) % shards
    return assigned


def _mix(values: Values, seed: int) -> Values:
    """SplitMix64, whose output is the same in every numpy.

    References:
        Steele, Lea, Flood: Fast splittable pseudorandom number generators. OOPSLA 2014.
    """
    with np.errstate(over="ignore"):
        mixed = (values + np.uint64(seed + 1) * np.uint64(0x632BE59BD9B4E019)) * (
            np.uint64(0x9E3779B97F4A7C15)
        )
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        final: Values = mixed ^ (mixed >> np.uint64(31))
    return final

"""Presence, values never seen, and ids outside their buckets."""

from collections.abc import Collection, Iterator

import numpy as np

from components.data_checks.codes import ABSENT
from components.data_checks.columns import CheckedColumn
from components.data_checks.config import DataChecksConfig, Outside, Presence, Unseen
from components.data_checks.findings import Finding, finding, skipped
from components.data_checks.tally import EVAL, Tally

# Share of empty codes below which the correction for shared ones is a guess.
MIN_EMPTY = 0.1


def value_findings(
    tally: Tally, config: DataChecksConfig, with_domain: Collection[str]
) -> Iterator[Finding]:
    """Checks the values of each column.

    Args:
        tally: what was counted.
        config: the rules ``presence``, ``unseen`` and ``outside``.
        with_domain: columns whose values TFX's ExampleValidator holds against a domain.

    Yields:
        One finding a column and rule.
    """
    for column in tally.columns:
        if config.presence.level != "off":
            yield from _presence(tally, column, config.presence)
        if column.buckets is not None and config.outside.level != "off":
            yield _outside(tally, column, column.buckets, config.outside)
        is_open = column.kind == "category" and not column.moves
        if is_open and column.name not in with_domain and config.unseen.level != "off":
            yield _unseen(tally, column, config.unseen)


def _presence(tally: Tally, column: CheckedColumn, rule: Presence) -> Iterator[Finding]:
    """Share of rows with a value by split, and the shard that has fewest."""
    present = tally.present[column.name]
    for split in ("train", "eval"):
        rows = {
            shard: count
            for shard, count in tally.shard_rows.items()
            if shard.startswith(f"Split-{split}/")
        }
        least = min(rows, key=lambda shard: (present[shard] / rows[shard], shard))
        held, total = sum(present[shard] for shard in rows), sum(rows.values())
        share = held / total
        text = (
            f"{held:,} of {total:,} rows have a value ({share:.2%}), at least "
            f"{rule.limit:.2%} expected; {least} has fewest ({present[least]:,} of "
            f"{rows[least]:,})"
        )
        is_bad = share < rule.limit
        yield finding("presence", rule, column.name, split, share, text, is_bad=is_bad)


def _outside(
    tally: Tally, column: CheckedColumn, buckets: int, rule: Outside
) -> Finding:
    """Identity-encoded ids without a bucket, and the shard that has most of them."""
    outside, values = tally.outside[column.name], tally.values[column.name]
    total = sum(outside.values())
    share = total / max(values, 1)
    shard = max(outside, key=lambda one: (outside[one], one))
    text = (
        f"{total:,} of {values:,} values ({share:.2%}) outside 0 to {buckets - 1:,}, at "
        f"most {rule.limit:.2%} expected"
    )
    return finding(
        "outside", rule, column.name, shard, share, text, is_bad=share > rule.limit
    )


def _unseen(tally: Tally, column: CheckedColumn, rule: Unseen) -> Finding:
    """Share of evaluated rows whose value no training row has, [codes] each.

    A new value shares its code with a known one as often as codes are taken, so the
    share of new codes is divided by that of empty ones. In rows that come from the same
    distribution the share is about that of the training rows whose value was seen once.

    References:
        Good, 1953, The population frequencies of species, equation 9.
    """
    rows = tally.counts[column.name].sum(axis=1, dtype=np.int64)[:, :ABSENT]
    train, evaluated = rows[:EVAL].sum(axis=0), rows[EVAL]
    empty = float(np.mean(train == 0))
    if empty < MIN_EMPTY or not evaluated.any() or not train.any():
        reason = "no values on one side, or too many different ones to tell new ones"
        return skipped("unseen", rule, column.name, "eval", reason)
    share = min(float(evaluated[train == 0].sum() / evaluated.sum()) / empty, 1.0)
    by_chance = float(np.count_nonzero(train == 1) / train.sum())
    text = (
        f"{share:.2%} of evaluated rows with a value have one that no training row has, "
        f"at most {rule.limit:.2%} beyond {by_chance:.2%} by chance expected"
    )
    return finding(
        "unseen",
        rule,
        column.name,
        "eval",
        share,
        text,
        is_bad=share > rule.limit + by_chance,
        chance=by_chance,
    )

"""Features that tell the label by themselves, measured on the evaluated rows."""

from collections.abc import Iterator

import numpy as np

from components.data_checks.columns import CheckedColumn
from components.data_checks.config import Leakage
from components.data_checks.findings import Finding, finding, skipped
from components.data_checks.tally import EARLIER, EVAL, LAST_DAY, Tally
from data.arrays import Floats, Ints

# Clicks and other rows that an AUC needs. Of an unrelated feature it has a standard
# deviation of sqrt(41 / (12 * 20 * 20)) = 0.09 then (Mann and Whitney 1947), so that
# 0.95 is five of them away from one half.
MIN_EACH = 20
# Rows of the mean click rate that each value's own rate is mixed with.
PRIOR_ROWS = 10


def leakage_findings(tally: Tally, rule: Leakage) -> Iterator[Finding]:
    """Measures the AUC of each column alone.

    A number ranks by its value, up or down; a category by the click rate that it has in
    the training rows, so that an id that was learned by heart ranks no better than it
    does for a model.

    Args:
        tally: what was counted.
        rule: level and limit.

    Yields:
        One finding a column, the largest AUC first.
    """
    if rule.level == "off":
        return
    others, clicks = (int(rows) for rows in tally.labels[EVAL])
    if min(others, clicks) < MIN_EACH:
        reason = f"{clicks} clicks and {others} others; {MIN_EACH} of each are needed"
        yield skipped("leakage", rule, "rows", "eval", reason)
        return
    found = [(feature_auc(tally, column), column) for column in tally.columns]
    for auc, column in sorted(found, key=lambda pair: (-pair[0], pair[1].name)):
        text = f"AUC {auc:.4f} of this column alone, suspect from {rule.limit:g}"
        is_bad = auc >= rule.limit
        yield finding("leakage", rule, column.name, "eval", auc, text, is_bad=is_bad)


def feature_auc(tally: Tally, column: CheckedColumn) -> float:
    """AUC of one column for the label, at least one half for a number."""
    counts = tally.counts[column.name]
    evaluated = counts[EVAL].astype(np.int64)
    if column.kind != "category":
        # An absent value has the last code, so that it ranks as the largest.
        score = np.arange(counts.shape[-1], dtype=np.float64)
        auc = tied_auc(score, evaluated)
        return max(auc, 1 - auc)
    train = counts[[EARLIER, LAST_DAY]].sum(axis=0, dtype=np.int64)
    mean = train[1].sum() / train.sum()
    rates = (train[1] + PRIOR_ROWS * mean) / (train.sum(axis=0) + PRIOR_ROWS)
    return tied_auc(rates, evaluated)


def tied_auc(scores: Floats, rows: Ints) -> float:
    """AUC of rows that share scores; ties count one half.

    Args:
        scores: [codes] any numbers.
        rows: [2, codes] rows without and with a click.

    Returns:
        Share of pairs of a click and another row in which the click scores higher.
    """
    held = rows.sum(axis=0) > 0
    distinct, places = np.unique(scores[held], return_inverse=True)
    others, clicks = (
        np.bincount(places.reshape(-1), weights=one[held], minlength=len(distinct))
        for one in rows
    )
    below = np.cumsum(others) - others / 2
    return float((clicks * below).sum() / (clicks.sum() * others.sum()))

"""Skew between training and evaluated rows, and drift of the last training day."""

from collections.abc import Iterator, Mapping

import numpy as np

from components.data_checks.codes import ABSENT
from components.data_checks.columns import CheckedColumn
from components.data_checks.config import DataChecksConfig, Shift
from components.data_checks.divergence import divergence
from components.data_checks.findings import Finding, finding, skipped
from components.data_checks.tally import EARLIER, EVAL, LAST_DAY, Tally
from data.arrays import Ints

# How often a log without any change may break a rule of shifts, at most.
FALSE_ALARMS = 0.01
# Characters of a value that a finding shows.
_SHOWN = 40
SPLITS = "train against eval"
DAYS = "last day of train against the days before"


def shift_findings(
    tally: Tally, config: DataChecksConfig, names: Mapping[str, Mapping[int, str]]
) -> Iterator[Finding]:
    """Compares the distribution of each column.

    Args:
        tally: what was counted.
        config: the rules ``skew`` and ``drift``.
        names: by column name, texts that may be shown by their code.

    Yields:
        One finding a column and rule, the largest divergence first.
    """
    compared: tuple[tuple[str, Shift, str, tuple[int, ...], int], ...] = (
        ("skew", config.skew, SPLITS, (EARLIER, LAST_DAY), EVAL),
        ("drift", config.drift, DAYS, (EARLIER,), LAST_DAY),
    )
    columns = [column for column in tally.columns if not column.moves]
    # Bonferroni: the chance of all comparisons together stays below FALSE_ALARMS.
    alpha = FALSE_ALARMS / max(2 * len(columns), 1)
    for check, rule, place, before, after in compared:
        if rule.level == "off":
            continue
        if not all(tally.labels[list(side)].sum() for side in (before, (after,))):
            reason = "no rows on one side; it needs a timestamp and two days"
            yield skipped(check, rule, "rows", place, reason)
            continue
        found = [
            _shift(tally, column, check, rule, place, before, after, alpha, names)
            for column in columns
        ]
        yield from sorted(found, key=lambda one: -(one.found or 0.0))


def _shift(
    tally: Tally,
    column: CheckedColumn,
    check: str,
    rule: Shift,
    place: str,
    before: tuple[int, ...],
    after: int,
    alpha: float,
    names: Mapping[str, Mapping[int, str]],
) -> Finding:
    """One column between two groups."""
    rows: Ints = tally.counts[column.name].sum(axis=1, dtype=np.int64)
    found = divergence(
        rows[list(before)].sum(axis=0),
        rows[after],
        (tally.draws(*before), tally.draws(after)),
        ordered=column.kind != "category",
        alpha=alpha,
    )
    text = (
        f"divergence {found.bits:.4f} bits, at most {rule.limit:g} beyond "
        f"{found.chance:.4f} by chance"
    )
    if column.kind == "category" and found.code is not None:
        text += _moved(found.code, found.shares, names.get(column.name, {}))
    return finding(
        check,
        rule,
        column.name,
        place,
        found.bits,
        text,
        is_bad=found.bits > rule.limit + found.chance,
        chance=found.chance,
    )


def _moved(code: int, shares: tuple[float, float], names: Mapping[int, str]) -> str:
    """The value whose share of rows changed most; its name only where it is known."""
    if code == ABSENT:
        value = "no value"
    elif code in names:
        value = repr(names[code][:_SHOWN])
    else:
        value = "one value"
    before, after = (f"{share:.1%}" for share in shares)
    return f" ({value} in {before} of rows, then {after})"

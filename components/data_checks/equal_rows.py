"""Judges rows and requests that come again."""

from collections.abc import Iterator, Mapping

from components.data_checks.config import DataChecksConfig, Rule
from components.data_checks.findings import Finding, finding
from components.data_checks.repeats import Repeats
from data.dataset import Dataset


def repeat_findings(
    rows: Mapping[str, Repeats],
    requests: Mapping[str, Repeats] | None,
    config: DataChecksConfig,
    dataset: Dataset,
) -> Iterator[Finding]:
    """Holds the shares of equal rows, and of equal request ids, against their limits.

    Args:
        rows: by split, rows that are equal in all columns.
        requests: by split, rows with an equal request id; None where none is declared.
        config: the rules ``duplicates``, ``overlap`` and ``request_ids``.
        dataset: the declaration.

    Yields:
        One finding a split and rule.
    """
    keys = dataset.keys
    overlap = config.overlap.rule(bool(keys.timestamp or keys.request_id))
    for split, found in rows.items():
        yield from _repeated("duplicates", config.duplicates, "rows", split, found)
    for split, found in rows.items():
        yield from _in_train("overlap", overlap, "rows", split, found)
    for split, found in (requests or {}).items():
        name = str(keys.request_id)
        yield from _repeated("request_ids", config.request_ids, name, split, found)
        yield from _in_train("request_ids", config.request_ids, name, split, found)


def _repeated(
    check: str, rule: Rule, subject: str, split: str, found: Repeats
) -> Iterator[Finding]:
    """Rows that come again in a split."""
    text = "equal to an earlier row of the split"
    yield from _share(check, rule, subject, split, found.repeated, found.rows, text)


def _in_train(
    check: str, rule: Rule, subject: str, split: str, found: Repeats
) -> Iterator[Finding]:
    """Held-out rows that are training rows, too."""
    if split != "train":
        place, text = f"{split} and train", "equal to a training row"
        yield from _share(check, rule, subject, place, found.in_train, found.rows, text)


def _share(
    check: str, rule: Rule, subject: str, place: str, count: int, rows: int, what: str
) -> Iterator[Finding]:
    """A share of rows, unless its rule is off."""
    if rule.level == "off":
        return
    share = count / max(rows, 1)
    text = (
        f"{count:,} of {rows:,} rows ({share:.2%}) {what}, at most {rule.limit:.2%} "
        "expected"
    )
    yield finding(check, rule, subject, place, share, text, is_bad=share > rule.limit)

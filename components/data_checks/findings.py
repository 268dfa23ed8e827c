"""What a check found, and what all of them together mean for the run."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from components.data_checks.config import Rule

Status = Literal["pass", "warn", "fail", "skipped"]
_WORDS: tuple[tuple[Status, str], ...] = (
    ("fail", "failed"),
    ("warn", "warned"),
    ("pass", "passed"),
    ("skipped", "skipped"),
)
# Failed checks that the error names; more of them have the same cause as a rule.
_NAMED = 5


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """One check of one column, split or day.

    Attributes:
        check: name of the rule in the configuration.
        subject: the column, or ``rows``.
        place: split, shard or day.
        found: the measured value; None where it was skipped.
        limit: the value that it is held against: the rule's own, with chance.
        level: of the rule.
        status: the outcome.
        text: found and limit in words, or why it was skipped.
    """

    check: str
    subject: str
    place: str
    found: float | None
    limit: float
    level: str
    status: Status
    text: str

    def __str__(self) -> str:
        """Rule, value and place in one line."""
        return f"{self.check} of {self.subject!r} in {self.place}: {self.text}"


def finding(
    check: str,
    rule: Rule,
    subject: str,
    place: str,
    found: float,
    text: str,
    *,
    is_bad: bool,
    chance: float = 0.0,
) -> Finding:
    """Judges a measured value.

    Args:
        check: name of the rule.
        rule: its level and limit.
        subject: the column, or ``rows``.
        place: split, shard or day.
        found: the value.
        text: the value in words.
        is_bad: whether it breaks the rule.
        chance: what is added to the limit.

    Returns:
        The finding.
    """
    return Finding(
        check=check,
        subject=subject,
        place=place,
        found=found,
        limit=rule.limit + chance,
        level=rule.level,
        status=("fail" if rule.level == "fail" else "warn") if is_bad else "pass",
        text=text,
    )


def skipped(check: str, rule: Rule, subject: str, place: str, reason: str) -> Finding:
    """A check that could not be made."""
    return Finding(
        check=check,
        subject=subject,
        place=place,
        found=None,
        limit=rule.limit,
        level=rule.level,
        status="skipped",
        text=reason,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataChecksResult:
    """What all checks found.

    Attributes:
        rows: rows that were read.
        findings: in the order of the checks.
        click_rates: ``split``, ``day``, ``rows`` and ``clicks`` of each day.
    """

    rows: int
    findings: Sequence[Finding]
    click_rates: Sequence[dict[str, Any]]

    @property
    def passed(self) -> bool:
        """True if no check failed; warnings pass."""
        return all(one.status != "fail" for one in self.findings)

    @property
    def reason(self) -> str:
        """How many checks came to which end."""
        counted = Counter(one.status for one in self.findings)
        parts = [f"{counted[key]} {word}" for key, word in _WORDS if counted[key]]
        return ", ".join(parts) or "none made"

    @property
    def refusal(self) -> str:
        """The failed checks in one line, with those that warned and a remedy."""
        failed = [one for one in self.findings if one.status == "fail"]
        warned = [one for one in self.findings if one.status == "warn"]
        rules = ", ".join(sorted({f"data_checks.{one.check}" for one in failed}))
        besides = f" (warned besides: {_listed(warned)})" if warned else ""
        return (
            f"data checks failed: {_listed(failed)}{besides}. Mend the log, or change "
            f"limit or level of {rules}"
        )

    def to_json(self) -> dict[str, Any]:
        """The same as JSON types."""
        return {
            "passed": self.passed,
            "reason": self.reason,
            "rows": self.rows,
            "findings": [dataclasses.asdict(one) for one in self.findings],
            "click_rates": list(self.click_rates),
        }


def _listed(findings: list[Finding]) -> str:
    """Some findings, and how many more there are."""
    named = [str(one) for one in findings[:_NAMED]]
    if len(findings) > _NAMED:
        named.append(f"and {len(findings) - _NAMED} more")
    return "; ".join(named)

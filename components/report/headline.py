"""What a reviewer must see first: the verdict and the numbers over all rows."""

from dataclasses import dataclass
from typing import Any

from components.report.content import Content
from components.report.text import (
    METRIC_MEANINGS,
    METRIC_TITLES,
    check_rule,
    check_status,
    interval,
    metric_title,
    number,
    slice_name,
)

# Warnings of the data checks that the headline names.
_NAMED = 5


@dataclass(frozen=True)
class Headline:
    """The top of the page.

    Attributes:
        status: ``blessed``, ``failed`` (the run), or ``refused``.
        title: the verdict in two words.
        reason: the verdict in one line.
        checks: lines of the checks that failed or stayed undecided, and one of the data
            checks that warned.
    """

    status: str
    title: str
    reason: str
    checks: list[str]


@dataclass(frozen=True)
class Tile:
    """One number over all rows.

    Attributes:
        name: the metric.
        value: the value, or a dash.
        interval: its 95 % interval; why there is no value; or empty.
        change: change against the baseline with its interval, or empty.
        note: effective users behind the interval, and the ECE that chance alone makes.
        meaning: what the metric says.
    """

    name: str
    value: str
    interval: str
    change: str
    note: str
    meaning: str


def headline(content: Content) -> Headline:
    """The verdict of a run.

    Args:
        content: of the report.

    Returns:
        The top of the page.
    """
    error, verdict = content.summary.get("error"), content.summary["verdict"]
    warned = data_warnings(content.summary)
    if error:
        return Headline("failed", "Run failed", error, [])
    if verdict is None:
        reason = content.absent.get("verdict", "")
        return Headline("refused", "No verdict", reason, warned)
    lines = [
        check_line(check)
        for check in verdict["checks"]
        if check["status"] in ("fail", "undecided")
    ]
    status, title = "refused", "Not blessed"
    if verdict["blessed"]:
        status, title = "blessed", "Blessed"
    reason = verdict["reason"].removeprefix(f"{title.lower()}: ")
    return Headline(status, title, reason, lines + warned)


def data_warnings(summary: dict[str, Any]) -> list[str]:
    """The data checks that warned, in one line: a leak does not stop a blessing.

    Args:
        summary: of a run.

    Returns:
        The line, or none.
    """
    findings = (summary.get("data_checks") or {}).get("findings", ())
    warned = [one for one in findings if one["status"] == "warn"]
    if not warned:
        return []
    what = (f"{one['check']} of {one['subject'] or 'all rows'}" for one in warned)
    named = list(dict.fromkeys(what))
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return [f"data checks warned: {', '.join(named[:_NAMED])}{more}"]


def check_line(check: dict[str, Any]) -> str:
    """One check in one line."""
    words = {"fail": "failed", "pass": "passed"}
    status = words.get(check["status"], check_status(check))
    reason = f": {check['reason']}" if check["reason"] else ""
    return f"{status}: {slice_name(check['slice'])}, {check_rule(check)}{reason}"


def tiles(content: Content) -> list[Tile]:
    """The metrics over all rows.

    Args:
        content: of the report.

    Returns:
        One tile a metric; none where nothing was evaluated.
    """
    slices = content.summary["slices"]
    if not slices:
        return []
    overall = slices[0]
    changes = overall.get("delta") or {}
    known = [name for name in METRIC_TITLES if name in overall["metrics"]]
    return [_tile(name, overall["metrics"][name], changes.get(name)) for name in known]


def _tile(name: str, estimate: dict[str, Any], change: dict[str, Any] | None) -> Tile:
    """One metric over all rows."""
    ends = interval(estimate)
    text = ""
    if change is not None:
        moved = interval(change, "+.4f")
        text = number(change["value"], "+.4f") + (f" (95 %: {moved})" if moved else "")
    users, chance = (
        estimate.get(key) for key in ("effective_users", "expected_if_calibrated")
    )
    notes = [f"{users:,.0f} effective users"] if users is not None else []
    notes += [f"{chance:.4f} if calibrated"] if chance is not None else []
    return Tile(
        name=metric_title(name),
        value=number(estimate["value"]),
        interval=f"95 %: {ends}" if ends else estimate.get("reason") or "",
        change=text,
        note=", ".join(notes),
        meaning=METRIC_MEANINGS.get(name, ""),
    )

"""The section on the checks of the rows before training."""

from collections.abc import Sequence
from typing import Any

from components.report.content import Content
from components.report.section import Section, why_absent
from components.report.tables import Cell, Table, words
from components.report.text import number

MOST_SHIFTS = 10
_ORDER = ("fail", "warn", "pass", "skipped")
# How the page marks a status; what warned is for a person to decide.
_MARKS = {"warn": "undecided"}


def data_checks_section(content: Content) -> Section:
    """All data checks, and the largest shifts.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("data-checks", "Data checks")
    checks = content.summary.get("data_checks")
    if checks is None:
        section.absent.append(why_absent(content, "data_checks"))
        return section
    section.notes.append(f"{checks['reason']}, on {checks['rows']:,} rows.")
    shifts = shift_table(checks["findings"])
    section.tables = [*([shifts] if shifts else []), finding_table(checks["findings"])]
    return section


def shift_table(findings: Sequence[dict[str, Any]]) -> Table | None:
    """The columns that changed most between splits or days.

    Args:
        findings: of ``data_checks.json``.

    Returns:
        At most ``MOST_SHIFTS`` rows; None where nothing was compared.
    """
    shifts = [
        one
        for one in findings
        if one["check"] in ("skew", "drift") and one["found"] is not None
    ]
    largest = sorted(shifts, key=lambda one: -one["found"])[:MOST_SHIFTS]
    rows = [
        [
            words(one["subject"]),
            words(one["place"]),
            *(Cell(number(one[key]), one[key]) for key in ("found", "limit")),
        ]
        for one in largest
    ]
    heads = ["column", "compared", "bits", "limit"]
    note = (
        "Jensen-Shannon divergence: 0 is equal, 1 disjoint; the limit includes chance."
    )
    return Table("Largest shifts", heads, rows, note, wide=True) if rows else None


def finding_table(findings: Sequence[dict[str, Any]]) -> Table:
    """Every check, the failed ones first."""
    ordered = sorted(findings, key=lambda one: _ORDER.index(one["status"]))
    rows = [
        [
            Cell(one["status"], mark=_MARKS.get(one["status"], one["status"])),
            *(words(one[key]) for key in ("check", "subject", "place")),
            words(one["text"]),
            words(one["level"]),
        ]
        for one in ordered
    ]
    heads = ["status", "check", "column", "where", "found", "level"]
    return Table("All data checks", heads, rows, wide=True)

"""Sections on what the evaluation measured."""

from collections.abc import Callable
from typing import Any

from components.report.chart import Chart
from components.report.content import Content
from components.report.curve_charts import (
    calibration_chart,
    pr_chart,
    roc_chart,
    score_chart,
    user_chart,
)
from components.report.run_tables import check_table, pair_table
from components.report.section import Section, why_absent
from components.report.slice_charts import change_charts, metric_charts
from components.report.slice_tables import (
    ENOUGH_CLICKS,
    bucket_table,
    change_table,
    extreme_tables,
    metric_table,
)
from components.report.text import number

# More of them would make the page large and tell a reader nothing.
MOST_SLICES = 1_000


def check_section(content: Content) -> Section:
    """Every check of the gates.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("checks", "Checks")
    verdict = content.summary["verdict"]
    if verdict is None:
        section.absent.append(why_absent(content, "verdict"))
    elif verdict["checks"]:
        section.tables.append(check_table(verdict["checks"]))
    else:
        section.absent.append(verdict["reason"])
    return section


def slice_section(content: Content) -> Section:
    """Metrics by slice.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("slices", "Metrics by slice")
    slices = content.summary["slices"]
    if not slices:
        section.absent.append(why_absent(content, "slices"))
        return section
    if content.hidden_slices:
        section.notes.append(
            f"{content.hidden_slices:,} slices by user or request id are not shown."
        )
    if len(slices) > MOST_SLICES:
        section.notes.append(
            f"The {MOST_SLICES:,} slices with most rows of {len(slices):,}; all are in "
            "the summary of the run."
        )
    slices = _largest(slices)
    section.charts = metric_charts(slices)
    section.tables.append(metric_table(slices))
    return section


def _largest(slices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The slices that a table shows: all, or those with most rows."""
    if len(slices) <= MOST_SLICES:
        return slices
    return sorted(slices, key=lambda one: -int(one["rows"]))[:MOST_SLICES]


def extreme_section(content: Content) -> Section:
    """Worst and best slices.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("extremes", "Worst and best slices")
    slices = content.summary["slices"]
    if not slices:
        section.absent.append(why_absent(content, "slices"))
        return section
    section.tables, few = extreme_tables(slices)
    section.notes.append(
        f"Slices with at least {ENOUGH_CLICKS} clicks; {few:,} with fewer left out. The "
        "ends of many noisy slices are partly luck: look at the intervals."
    )
    if not section.tables:
        section.absent.append("fewer than two slices have enough clicks")
    return section


def calibration_section(content: Content) -> Section:
    """Calibration, distributions and curves over all rows.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("calibration", "Calibration and scores")
    slices = content.summary["slices"]
    if not slices:
        section.absent.append(why_absent(content, "slices"))
        return section
    overall = slices[0]
    curves = overall.get("curves") or {}
    buckets = overall.get("calibration")
    click_rate = overall.get("click_weight", overall["clicks"]) / max(
        overall.get("weight", overall["rows"]), 1e-12
    )
    if buckets:
        section.charts.append(calibration_chart(buckets))
        section.tables.append(bucket_table(buckets))
    makers: dict[str, tuple[str, Callable[[Any], Chart]]] = {
        "scores": ("scores by class", score_chart),
        "roc": ("ROC", roc_chart),
        "pr": ("precision and recall", lambda curve: pr_chart(curve, click_rate)),
        "user_auc": ("AUC of each user", user_chart),
    }
    missing = [] if buckets else ["calibration"]
    for key, (name, make) in makers.items():
        # An undefined curve has no points.
        if any(curves.get(key, {}).values()):
            section.charts.append(make(curves[key]))
        else:
            missing.append(name)
    fields = overall.get("field_calibration_error")
    if fields:
        texts = {name: number(gap) for name, gap in fields.items()}
        section.tables.append(pair_table("Field-level calibration error", texts))
    if missing:
        section.absent.append(f"not recorded or undefined: {', '.join(missing)}")
    return section


def baseline_section(content: Content) -> Section:
    """Change against the baseline.

    Args:
        content: of the report.

    Returns:
        The section.
    """
    section = Section("baseline", "Change against the baseline")
    slices = [one for one in content.summary["slices"] or [] if one.get("delta")]
    if not slices:
        part = "baseline" if content.summary["slices"] else "slices"
        section.absent.append(why_absent(content, part))
        return section
    section.charts = change_charts(slices)
    section.tables.append(change_table(_largest(slices)))
    return section

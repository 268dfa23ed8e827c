"""The model card: the report's numbers as Markdown."""

import datetime
import html
from typing import Any

import jinja2
from markupsafe import Markup

from components.report.content import Content
from components.report.headline import check_line, data_warnings, headline
from components.report.slice_tables import ENOUGH_CLICKS
from components.report.text import (
    METRIC_MEANINGS,
    METRIC_TITLES,
    interval,
    moment,
    number,
    slice_name,
)

# Characters that mean something to Markdown.
MARKS = "\\`*_[]|"


def render_card(content: Content, made: datetime.datetime | None = None) -> str:
    """Renders the card.

    Args:
        content: of the report.
        made: time that the card shows as its own; now when None.

    Returns:
        Markdown with tables.

    References:
        Mitchell et al., 2019, Model cards for model reporting,
        https://arxiv.org/abs/1810.03993.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("components.report"),
        # Not HTML: ``finalize`` escapes every value for Markdown instead.
        autoescape=False,  # noqa: S701
        finalize=markdown,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    slices = content.summary["slices"] or []
    return environment.get_template("card.md").render(
        content=content,
        summary=content.summary,
        headline=headline(content),
        data_warnings=data_warnings(content.summary),
        checks=[
            check_line(one)
            for one in (content.summary["verdict"] or {}).get("checks", ())
        ],
        overall=[
            _metric(name, slices[0]) for name in METRIC_TITLES if _has(slices, name)
        ],
        slices=[_slice(entry) for entry in slices[1:]],
        few=sum(entry["clicks"] < ENOUGH_CLICKS for entry in slices[1:]),
        enough=ENOUGH_CLICKS,
        moment=moment,
        commands=Markup("\n".join(content.commands)),  # noqa: S704 (shlex.join made them)
        made=(made or datetime.datetime.now(datetime.timezone.utc)).strftime(
            "%Y-%m-%d"
        ),
    )


def markdown(value: Any) -> Any:
    """Escapes a value so that Markdown shows it as it is, in one line."""
    if isinstance(value, Markup):
        return value
    text = html.escape(" ".join(str(value).split()), quote=False)
    return "".join(f"\\{char}" if char in MARKS else char for char in text)


def _has(slices: list[dict[str, Any]], name: str) -> bool:
    """Whether a metric was measured over all rows."""
    return bool(slices) and name in slices[0]["metrics"]


def _metric(name: str, overall: dict[str, Any]) -> dict[str, str]:
    """One metric over all rows in words."""
    estimate = overall["metrics"][name]
    change = (overall.get("delta") or {}).get(name)
    moved = interval(change, "+.4f")
    return {
        "name": METRIC_TITLES[name],
        "value": number(estimate["value"]),
        "interval": interval(estimate) or estimate.get("reason") or "",
        "change": number(change["value"], "+.4f") if change else "",
        "change_interval": moved,
        "meaning": METRIC_MEANINGS[name],
    }


def _slice(entry: dict[str, Any]) -> dict[str, str]:
    """GAUC and PCOP of a slice in words."""
    row = {"name": slice_name(entry["slice"])}
    row |= {key: f"{entry[key]:,}" for key in ("rows", "clicks")}
    for name in ("gauc", "pcop"):
        estimate = entry["metrics"].get(name) or {"value": None}
        ends = interval(estimate)
        row[name] = number(estimate["value"]) + (f" ({ends})" if ends else "")
    return row

"""Charts of metrics and their intervals by slice."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from components.report.chart import CANDIDATE, GREY, OTHER, Chart, figure, label, plain
from components.report.text import interval, metric_title, slice_name

MOST_SLICES = 40
ROW_PIXELS = 24
LINE_PIXELS = 13


def metric_charts(slices: Sequence[dict[str, Any]]) -> list[Chart]:
    """GAUC and PCOP by slice with intervals.

    Args:
        slices: slices of the summary, all rows first.

    Returns:
        Two charts, of the slices with the most clicks.
    """
    gauc = _forest(
        slices,
        "metrics",
        "gauc",
        f"GAUC by slice{_left_out(slices)}",
        "Bars are 95 % intervals by user; the dotted line is all rows. A slice whose bar "
        "misses the line ranks differently; a hollow point has too few users for a bar.",
    )
    pcop = _forest(
        slices,
        "metrics",
        "pcop",
        f"PCOP by slice{_left_out(slices)}",
        "Right of 1 clicks are predicted too high, left of it too low. A bar that misses "
        "1 is more than noise.",
        line=1.0,
        log=True,
    )
    return [chart for chart in (gauc, pcop) if chart]


def change_charts(slices: Sequence[dict[str, Any]]) -> list[Chart]:
    """Changes of GAUC and PCOP against the baseline by slice.

    Args:
        slices: slices of the summary with ``delta``.

    Returns:
        The charts of the slices with the most clicks.
    """
    scale = "log_pcop" if "log_pcop" in slices[0]["delta"] else "abs_log_pcop"
    gauc = _forest(
        slices,
        "delta",
        "gauc",
        f"Change of GAUC by slice{_left_out(slices)}",
        "Candidate less baseline, paired by user. Right of 0 the candidate ranks better; "
        "a bar that holds 0 shows no difference.",
        line=0.0,
    )
    pcop = _forest(
        slices,
        "delta",
        scale,
        f"Change of {metric_title(scale)} by slice{_left_out(slices)}",
        "0.01 is about one per cent more predicted clicks than the baseline."
        if scale == "log_pcop"
        else "Left of 0 the candidate's PCOP is closer to 1 than the baseline's.",
        line=0.0,
    )
    return [chart for chart in (gauc, pcop) if chart]


def _forest(
    slices: Sequence[dict[str, Any]],
    part: str,
    name: str,
    title: str,
    reading: str,
    *,
    line: float | None = None,
    log: bool = False,
) -> Chart | None:
    """Points with intervals, a row a slice; None where no slice has a value."""
    shown = [
        (entry, estimate)
        for entry in _shown(slices)
        if (estimate := (entry.get(part) or {}).get(name))
        and estimate["value"] is not None
    ]
    if not shown:
        return None
    points = [
        _Point(row, entry, estimate) for row, (entry, estimate) in enumerate(shown)
    ]
    with_bars = [point for point in points if point.estimate["ci95"]]
    without = [point for point in points if not point.estimate["ci95"]]
    ends = [end for point in with_bars for end in point.estimate["ci95"]]
    known = ends + [point.estimate["value"] for point in points]
    if line is None and not shown[0][0]["slice"]:
        line = shown[0][1]["value"]
    labels = [label(slice_name(entry["slice"])) for entry, _ in shown]
    lines = 1 + max(text.count("<br>") for text in labels)
    layout = {
        "xaxis": _axis(min(known), max(known), log),
        "yaxis": {
            "tickvals": list(range(len(shown))),
            "ticktext": labels,
            # The first slice on top.
            "range": [len(shown) - 0.5, -0.5],
            "showgrid": False,
        },
        "shapes": [] if line is None else [_dotted(line)],
        "showlegend": False,
    }
    made = figure(
        [_trace(group) for group in (with_bars, without) if group],
        metric_title(name) if part == "metrics" else f"change of {metric_title(name)}",
        "",
        layout=layout,
        height=70 + (ROW_PIXELS + LINE_PIXELS * (lines - 1)) * len(shown),
    )
    return Chart(title, reading, made)


class _Point(NamedTuple):
    """A slice's place in a chart, and what it shows there."""

    row: int
    entry: dict[str, Any]
    estimate: dict[str, Any]

    @property
    def symbol(self) -> str:
        """A diamond for all rows; hollow where there is no interval."""
        shape = "circle" if self.entry["slice"] else "diamond"
        return shape if self.estimate["ci95"] else f"{shape}-open"

    @property
    def text(self) -> str:
        """What hovering shows."""
        return (
            f"{plain(slice_name(self.entry['slice']))}<br>{self.estimate['value']:.4f}"
            f"<br>95 %: {interval(self.estimate) or 'none'}"
            f"<br>clicks: {self.entry['clicks']:,}"
        )


def _trace(points: Sequence[_Point]) -> Any:
    """Points that all have an interval, or that all have none."""
    values = [point.estimate["value"] for point in points]
    trace = go.Scatter(
        x=values,
        y=[point.row for point in points],
        mode="markers",
        marker={
            "color": [CANDIDATE if point.entry["slice"] else OTHER for point in points],
            "symbol": [point.symbol for point in points],
            "opacity": 1,
            "line": {"width": 1.5},
            "size": [8 if point.entry["slice"] else 11 for point in points],
        },
        text=[point.text for point in points],
        hovertemplate="%{text}<extra></extra>",
    )
    if points[0].estimate["ci95"]:
        pairs = [(point.estimate["value"], *point.estimate["ci95"]) for point in points]
        trace.error_x = {
            "type": "data",
            "symmetric": False,
            "array": [high - value for value, _, high in pairs],
            "arrayminus": [value - low for value, low, _ in pairs],
            "color": GREY,
            "thickness": 1.5,
            "width": 3,
        }
    return trace


def _dotted(at: float) -> dict[str, Any]:
    """A dotted line over the whole height."""
    style = {"color": GREY, "dash": "dot", "width": 1.5}
    place = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper"}
    return place | {"line": style, "layer": "below"}


def _axis(lowest: float, highest: float, log: bool) -> dict[str, Any]:
    """The horizontal axis, with few enough ticks for a narrow screen."""
    axis: dict[str, Any] = {"nticks": 5, "tickangle": 0}
    if log and lowest > 0:
        axis["type"] = "log"
        if highest > 4 * lowest:
            # Ticks at 1, 2 and 5 of each power of ten.
            axis |= {"dtick": "D2", "tickformat": ".3~g"}
    return axis


def _shown(slices: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """All rows and the slices with the most clicks, in the order of the summary."""
    ranked = sorted(slices, key=lambda entry: (bool(entry["slice"]), -entry["clicks"]))
    kept = {id(entry) for entry in ranked[:MOST_SLICES]}
    return [entry for entry in slices if id(entry) in kept]


def _left_out(slices: Sequence[dict[str, Any]]) -> str:
    """How many slices the charts leave out, in words."""
    if len(slices) <= MOST_SLICES:
        return ""
    return f" ({MOST_SLICES} with the most clicks of {len(slices)})"

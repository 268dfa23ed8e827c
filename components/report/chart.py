"""A chart as the page shows it, and the style that all charts share."""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

# Blue and orange of Okabe and Ito, 2008, Color Universal Design, a little darker: they
# differ for every kind of colour vision and stand out on white and on black.
CANDIDATE = "#2f7fc1"
OTHER = "#d9730d"
GREY = "#8a8f98"
GRID = "rgba(138, 143, 152, 0.25)"

LONGEST_LABEL = 24
MOST_LINES = 3


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes:
        title: what it shows.
        reading: one line on how to read it.
        figure: ``data`` and ``layout`` of Plotly, as JSON types.
        wide: whether it takes the whole width of the page.
    """

    title: str
    reading: str
    figure: dict[str, Any]
    wide: bool = False


def figure(
    traces: Sequence[Any],
    x: str,
    y: str,
    *,
    layout: Mapping[str, Any] | None = None,
    height: int = 320,
) -> dict[str, Any]:
    """Puts traces into the common style.

    Args:
        traces: Plotly traces; text from data in them must have passed ``plain``.
        x: title of the horizontal axis.
        y: title of the vertical axis.
        layout: what differs from the common style.
        height: in pixels.

    Returns:
        The figure as JSON types; numbers that are not finite become null.
    """
    axis = {"gridcolor": GRID, "zeroline": False, "automargin": True}
    made = go.Figure(list(traces))
    made.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 8, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"size": 12},
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        xaxis=axis | {"title": {"text": x}},
        yaxis=axis | {"title": {"text": y}},
        showlegend=len(traces) > 1,
    )
    made.update_layout(layout or {})
    content: dict[str, Any] = json.loads(made.to_json())
    # Ten times the size of a chart, and every colour in it is set above.
    content["layout"].pop("template", None)
    return content


def plain(text: str) -> str:
    """Text from data for a chart: Plotly reads tags in labels, so there are none."""
    return html.escape(text, quote=False)


def label(text: str) -> str:
    """Text from data for an axis, a line for each part, cut to its room."""
    parts = [
        part if len(part) <= LONGEST_LABEL else part[: LONGEST_LABEL - 1] + "…"
        for part in text.split(", ")
    ]
    return "<br>".join(plain(part) for part in parts[:MOST_LINES])

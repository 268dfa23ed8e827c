"""Charts of the scores over all rows: calibration, distributions, ROC, PR, users."""

import itertools
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from components.report.chart import CANDIDATE, GREY, OTHER, Chart, figure


def calibration_chart(buckets: Sequence[dict[str, float]]) -> Chart:
    """Click rate against mean prediction.

    Args:
        buckets: ``calibration`` of all rows.

    Returns:
        The chart, with logarithmic axes where every bucket has clicks.
    """
    predicted = [one["predicted"] for one in buckets]
    observed = [one["observed"] for one in buckets]
    both = predicted + observed
    log = min(both) > 0
    ends = [min(both) * 0.9, max(both) * 1.1] if log else [0.0, max(both) * 1.05]
    traces = [
        _diagonal(ends, "exact"),
        go.Scatter(
            x=predicted,
            y=observed,
            name="buckets",
            mode="lines+markers",
            line={"color": CANDIDATE},
            marker={"size": 8},
            hovertemplate="predicted %{x:.4%}<br>clicked %{y:.4%}<extra></extra>",
        ),
    ]
    # D2: ticks at 1, 2 and 5 of each power of ten.
    axis = {"type": "log", "dtick": "D2"} if log else {"type": "linear"}
    axis["tickformat"] = ".2~%"
    return Chart(
        "Calibration",
        "One point a bucket of equal mass. Below the diagonal predictions are too high."
        + (" Both axes are logarithmic." if log else ""),
        figure(
            traces,
            "mean prediction",
            "click rate",
            layout={"xaxis": axis, "yaxis": axis},
        ),
    )


def score_chart(scores: dict[str, list[float]]) -> Chart:
    """Distribution of the scores of clicks and of non-clicks.

    Args:
        scores: ``edges``, one more than ``clicks`` and ``others``.

    Returns:
        The chart; each class sums to one.
    """
    edges = scores["edges"]
    traces = []
    for key, name, colour in (
        ("others", "non-clicks", GREY),
        ("clicks", "clicks", CANDIDATE),
    ):
        total = sum(scores[key]) or 1
        shares = [value / total for value in scores[key]]
        traces.append(
            go.Scatter(
                x=edges,
                # A step holds until the next edge, so the last share stands twice.
                y=[*shares, *shares[-1:]],
                name=name,
                mode="lines",
                line={"shape": "hv", "color": colour, "width": 2},
                fill="tozeroy",
                hovertemplate="from %{x:.4g}: %{y:.2%}<extra>" + name + "</extra>",
            )
        )
    return Chart(
        "Scores of clicks and non-clicks",
        "Share of each class by score. The further apart the two, the better the ranking.",
        figure(
            traces,
            "score",
            "share of the class",
            layout={"yaxis": {"tickformat": ".0%", "rangemode": "tozero"}},
        ),
    )


def roc_chart(roc: dict[str, list[float]]) -> Chart:
    """The ROC curve.

    Args:
        roc: ``fpr`` and ``tpr``.

    Returns:
        The chart.
    """
    traces = [
        _diagonal([0.0, 1.0], "chance"),
        _line(roc["fpr"], roc["tpr"], "candidate"),
    ]
    return Chart(
        "ROC",
        "Clicks found against non-clicks taken along, over all cuts of the score. The "
        "area below is AUC; the diagonal is chance.",
        figure(traces, "share of non-clicks", "share of clicks found"),
    )


def pr_chart(curve: dict[str, list[float]], click_rate: float) -> Chart:
    """The precision-recall curve.

    Args:
        curve: ``recall`` and ``precision``.
        click_rate: precision of chance.

    Returns:
        The chart.
    """
    chance = go.Scatter(
        x=[0, 1],
        y=[click_rate, click_rate],
        name="chance",
        mode="lines",
        line={"color": GREY, "dash": "dot"},
    )
    traces = [chance, _line(curve["recall"], curve["precision"], "candidate")]
    return Chart(
        "Precision and recall",
        "Click rate among the rows above a cut, against the clicks found. The dotted line "
        "is the click rate of all rows.",
        figure(
            traces, "recall", "precision", layout={"yaxis": {"rangemode": "tozero"}}
        ),
    )


def user_chart(users: dict[str, list[float]]) -> Chart:
    """Distribution of AUC over users.

    Args:
        users: ``edges``, one more than ``users``.

    Returns:
        The chart.
    """
    edges, counts = users["edges"], users["users"]
    pairs = list(itertools.pairwise(edges))
    bars = go.Bar(
        x=[(low + high) / 2 for low, high in pairs],
        y=counts,
        width=[high - low for low, high in pairs],
        marker={"color": CANDIDATE, "line": {"color": "white", "width": 0.5}},
        text=[f"{low:.2f} to {high:.2f}" for low, high in pairs],
        textposition="none",
        hovertemplate="AUC %{text}: %{y:,} users<extra></extra>",
    )
    half = {"type": "line", "x0": 0.5, "x1": 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    half["line"] = {"color": OTHER, "dash": "dot", "width": 1.5}
    return Chart(
        "AUC of each user",
        "Users with a click and a non-click, by the AUC inside their rows. Left of the "
        "dotted line the ranking is worse than chance; few rows make 0 and 1 common.",
        figure([bars], "AUC of a user", "users", layout={"shapes": [half]}),
    )


def _diagonal(ends: list[float], name: str) -> Any:
    """A dotted line from corner to corner."""
    return go.Scatter(
        x=ends,
        y=ends,
        name=name,
        mode="lines",
        line={"color": GREY, "dash": "dot"},
        hoverinfo="skip",
    )


def _line(x: list[float], y: list[float], name: str) -> Any:
    """A plain curve."""
    return go.Scatter(
        x=x,
        y=y,
        name=name,
        mode="lines",
        line={"color": CANDIDATE, "width": 2},
        hovertemplate="%{x:.3f}, %{y:.3f}<extra></extra>",
    )

"""Charts of a training, and of what the run cost."""

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from components.report.chart import CANDIDATE, OTHER, Chart, figure, plain

# Name of a scalar -> (title, how to read it).
READINGS = {
    "loss": ("Loss", "Mean cross-entropy since the point before; lower is better."),
    "log_loss": (
        "Log loss on the validation rows",
        "A rise while the training loss falls is overfitting.",
    ),
    "gauc": ("GAUC on the validation rows", "Ranking inside users; it should rise."),
    "pcop": (
        "PCOP on the validation rows",
        "Predicted over observed clicks; aim at 1.",
    ),
    "examples_per_second": ("Examples per second", "Speed of the training."),
    "input_wait_share": (
        "Share of time waiting for input",
        "Near 0 the device is busy; near 1 reading is what holds the training up.",
    ),
    "gradient_norm": ("Gradient norm", "A sudden rise tells of an unstable training."),
    "learning_rate": ("Learning rate", "The schedule as it was applied."),
    "step_seconds": ("Seconds per step", "Mean time of a step, waiting included."),
}
# The network is trained on the same loss that validation calls log loss.
SAME_CHART = {"log_loss": "loss"}
COLOURS = {"train": CANDIDATE, "validation": OTHER, "eval": OTHER}


def training_charts(curves: dict[str, dict[str, list[float]]]) -> list[Chart]:
    """One chart a scalar, training and validation together.

    Args:
        curves: tag (``train/loss``) -> ``steps`` and ``values``.

    Returns:
        The charts, those with a known meaning first.
    """
    groups: dict[str, list[str]] = {}
    for tag in curves:
        name = tag.rsplit("/", 1)[-1]
        groups.setdefault(SAME_CHART.get(name, name), []).append(tag)
    known = [name for name in READINGS if name in groups]
    others = sorted(set(groups) - set(known))
    return [
        _chart(name, {tag: curves[tag] for tag in sorted(groups[name])})
        for name in [*known, *others]
    ]


def _chart(name: str, curves: dict[str, dict[str, list[float]]]) -> Chart:
    """One scalar over the steps."""
    title, reading = READINGS.get(
        name, (name.replace("_", " "), "As the Trainer wrote it.")
    )
    traces = [
        go.Scatter(
            x=curve["steps"],
            y=curve["values"],
            name=plain(tag.rsplit("/", 1)[0]),
            mode="lines" if len(curve["steps"]) > 2 else "lines+markers",
            line={"color": COLOURS.get(tag.split("/", 1)[0]), "width": 2},
            hovertemplate="step %{x:,}: %{y:.5g}<extra></extra>",
        )
        for tag, curve in curves.items()
    ]
    layout = {
        "yaxis": _range(value for curve in curves.values() for value in curve["values"])
    }
    return Chart(title, reading, figure(traces, "step", "", layout=layout, height=240))


def _range(values: Iterable[float]) -> dict[str, Any]:
    """Axis of a series; Plotly would draw a constant small one as 0 between -1 and 1."""
    seen = set(values)
    constant = seen.pop() if len(seen) == 1 else 0.0
    return {"range": [0.0, 2.0 * constant]} if constant > 0.0 else {}


def cost_chart(components: Sequence[dict[str, Any]]) -> Chart:
    """Wall and CPU seconds of each component.

    Args:
        components: of the summary.

    Returns:
        The chart.
    """
    names = [plain(entry["component"]) for entry in components]
    traces = [
        go.Bar(
            y=names,
            x=[entry[key] for entry in components],
            name=name,
            orientation="h",
            marker={"color": colour},
            hovertemplate="%{y}: %{x:.1f} s<extra>" + name + "</extra>",
        )
        for key, name, colour in (
            ("wall_seconds", "wall", CANDIDATE),
            ("cpu_seconds", "CPU", OTHER),
        )
    ]
    return Chart(
        "Time by component",
        "CPU above wall: several cores worked. CPU far below wall: the component waited.",
        figure(
            traces,
            "seconds",
            "",
            layout={"yaxis": {"autorange": "reversed"}, "barmode": "group"},
            height=80 + 34 * len(components),
        ),
        wide=True,
    )

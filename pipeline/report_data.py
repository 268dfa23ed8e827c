"""Gathers everything that is known of a run into the content of a report."""

from pathlib import Path
from typing import Any

from components.report.content import Content
from data.settings import to_yaml
from pipeline.history import History, NodeRun
from pipeline.report_commands import reproduce
from pipeline.report_curves import read_curves
from pipeline.report_statistics import read_anomalies, read_statistics


def gather(summary: dict[str, Any], root: Path) -> Content:
    """Gathers a run's numbers from its summary and its artifacts.

    Args:
        summary: as ``reports/<run>.json`` holds it.
        root: folder that holds all runs.

    Returns:
        The content; a part that the run did not reach is None, with the reason in
        ``absent``. It holds no user id.
    """
    history = History(root / summary["pipeline"] / "metadata.db")
    nodes = {node.component: node for node in history.nodes(summary["run"])}
    hidden = id_columns(summary["config"])
    shown, hidden_slices = without_ids(summary, hidden)
    statistics = _artifact(nodes, "StatisticsGen", "statistics")
    anomalies = _artifact(nodes, "StoppingExampleValidator", "anomalies")
    model_run = _artifact(nodes, "Trainer", "model_run")
    return Content(
        summary=shown,
        statistics=read_statistics(statistics, hidden) if statistics else None,
        anomalies=read_anomalies(anomalies, hidden) if anomalies else None,
        curves=read_curves(model_run) if model_run else None,
        lineage=[_lineage(node) for node in nodes.values()],
        configuration=as_yaml(summary["config"]),
        commands=reproduce(summary, root),
        absent=_absent(summary, nodes),
        hidden_slices=hidden_slices,
    )


def id_columns(config: dict[str, Any]) -> frozenset[str]:
    """Columns whose values name a person or a request."""
    keys = config["data"]["keys"]
    names = (keys.get("user_id"), keys.get("request_id"))
    return frozenset(name for name in names if name)


def without_ids(
    summary: dict[str, Any], hidden: frozenset[str]
) -> tuple[dict[str, Any], int]:
    """Leaves out slices, and their checks, whose values are ids.

    Args:
        summary: of the run.
        hidden: columns of ids.

    Returns:
        The summary without them, and how many slices were left out.
    """
    shown = dict(summary)
    slices, verdict = summary["slices"], summary["verdict"]
    if slices:
        shown["slices"] = [one for one in slices if not hidden & set(one["slice"])]
    if verdict:
        checks = verdict["checks"]
        kept = [check for check in checks if not hidden & set(check["slice"])]
        shown["verdict"] = verdict | {"checks": kept}
    return shown, len(slices or ()) - len(shown["slices"] or ())


def as_yaml(config: dict[str, Any]) -> str:
    """The configuration as a file that ``ctr run --config`` takes."""
    content = {name: value for name, value in config.items() if value is not None}
    if "schema_file" in content:
        content["schema"] = content.pop("schema_file")
    return to_yaml(content)


def _artifact(nodes: dict[str, NodeRun], component: str, key: str) -> str | None:
    """Folder of an output that is still on disk."""
    uris = nodes[component].outputs.get(key) if component in nodes else None
    return uris[0] if uris and Path(uris[0]).is_dir() else None


def _absent(summary: dict[str, Any], nodes: dict[str, NodeRun]) -> dict[str, str]:
    """Why each part of the report that may be missing would be."""
    parts = {
        "data": "ClickLogExampleGen",
        "statistics": "StatisticsGen",
        "anomalies": "StoppingExampleValidator",
        "data_checks": "DataChecks",
        "training": "Trainer",
        "curves": "Trainer",
        "slices": "Evaluator",
        "verdict": "ModelGate",
    }
    reasons = {part: _reason(nodes, component) for part, component in parts.items()}
    if summary["baseline"] is None:
        reasons["baseline"] = (
            "no model had been blessed before, so there is no baseline"
        )
    return reasons


def _reason(nodes: dict[str, NodeRun], component: str) -> str:
    """Why the output of a component is not at hand."""
    node = nodes.get(component)
    if node is None:
        return f"the run did not reach {component}"
    if node.state == "failed":
        return f"{component} failed"
    return f"the files of {component} are no longer on disk"


def _lineage(node: NodeRun) -> dict[str, Any]:
    """One execution as plain values."""
    return {
        "component": node.component,
        "state": node.state,
        "inputs": node.inputs,
        "outputs": node.outputs,
    }

"""What came out of a run, as one JSON object that every view is made from."""

import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from components.data_checks.component import DATA_CHECKS_FILE
from components.evaluation import read_results
from components.model_gate import VERDICT_FILE
from components.serving_check.component import RESULT_FILE
from components.trainer import TRAINING_FILE
from data.manifest import MANIFEST_FILE
from data.whole_files import write_whole
from pipeline.code_version import code_version
from pipeline.config import PipelineConfig
from pipeline.history import History, NodeRun

EVALUATORS = ("Evaluator", "Evaluator.reference", "Evaluator.rows")
# Packages whose version can change a result.
STACK = ("tfx", "tensorflow", "keras", "apache-beam", "tensorflow-model-analysis")


def summarize(
    config: PipelineConfig,
    input_base: str,
    run_id: str,
    history: History,
    components: list[dict[str, Any]],
) -> dict[str, Any]:
    """Gathers the numbers of a run from its artifacts.

    Args:
        config: the configuration.
        input_base: where the log was.
        run_id: id of the run in ML Metadata.
        history: the database.
        components: cost of each component, in order; their rows are filled in.

    Returns:
        The summary; parts that the run did not reach are None.
    """
    nodes = {node.component: node for node in history.nodes(run_id)}
    manifest = _read(nodes, "ClickLogExampleGen", "examples", MANIFEST_FILE)
    checks = _read(nodes, "DataChecks", "checks", DATA_CHECKS_FILE)
    training = _read(nodes, "Trainer", "model_run", TRAINING_FILE)
    serving = _read(nodes, "ServingCheck", "blessing", RESULT_FILE)
    verdict = _read(nodes, "ModelGate", "blessing", VERDICT_FILE)
    evaluation = _output(nodes, "Evaluator", "evaluation")
    slices = (
        [result.to_json() for result in read_results(evaluation)]
        if evaluation
        else None
    )
    summary = {
        "run": run_id,
        "pipeline": config.name,
        "input": input_base,
        "data": manifest,
        "data_checks": checks,
        "training": training,
        "slices": slices,
        "verdict": _joint(verdict, serving),
        "serving_check": serving,
        "baseline": _baseline(nodes),
        "reference": config.evaluate.reference,
        "model": _output(nodes, "Trainer", "model"),
        "pushed": _pushed(nodes),
        "evaluation": evaluation,
        "components": components,
        "config": config.model_dump(mode="json"),
        "code": code_version(),
        "stack": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in STACK},
    }
    _fill_rows(summary)
    return summary


def write(folder: Path, summary: dict[str, Any]) -> Path:
    """Writes a summary as ``<run>.json``, complete or not at all.

    Args:
        folder: directory of the summaries; made if absent.
        summary: what ``summarize`` returned; gets the path under ``file``.

    Returns:
        The file.
    """
    target = folder / f"{summary['run']}.json"
    summary["file"] = str(target)
    write_whole(target, json.dumps(summary, indent=1))
    return target


def _output(nodes: dict[str, NodeRun], component: str, key: str) -> str | None:
    """URI of an output of a component that completed."""
    node = nodes.get(component)
    if node is None or node.state != "complete" or key not in node.outputs:
        return None
    return node.outputs[key][0]


def _read(nodes: dict[str, NodeRun], component: str, key: str, name: str) -> Any:
    """A JSON file inside an output artifact, None if it was not made."""
    uri = _output(nodes, component, key)
    if uri is None:
        return None
    return json.loads(Path(uri, name).read_text("utf-8"))


def _joint(
    verdict: dict[str, Any] | None, serving: dict[str, Any] | None
) -> dict[str, Any] | None:
    """The gate's verdict, which a failed serving check overrules as it does the push."""
    if verdict is None or serving is None or serving["passed"]:
        return verdict
    reason = f"not blessed: {serving['reason']}; the gates: {verdict['reason']}"
    return verdict | {"blessed": False, "reason": reason}


def _baseline(nodes: dict[str, NodeRun]) -> str | None:
    """URI of the model that the candidate was compared with."""
    evaluator = nodes.get("Evaluator")
    uris = evaluator.inputs.get("baseline_model") if evaluator else None
    return uris[0] if uris else None


def _pushed(nodes: dict[str, NodeRun]) -> str | None:
    """Version directory that the model was pushed to."""
    pusher = nodes.get("AtomicPusher")
    properties = pusher.properties.get("pushed_model", {}) if pusher else {}
    return properties.get("pushed_destination") if properties.get("pushed") else None


def _fill_rows(summary: dict[str, Any]) -> None:
    """Rows that each component went through."""
    data, training, slices = (summary[k] for k in ("data", "training", "slices"))
    serving = summary["serving_check"]
    total = sum(s["rows"] for s in data["splits"].values()) if data else None
    packed = total - data["splits"]["eval"]["rows"] if data else None
    rows = {
        "ClickLogExampleGen": total,
        "StatisticsGen": total,
        "DataChecks": total,
        "Transform": data["splits"]["train"]["rows"] if data else None,
        "PackExamples": packed,
        "Trainer": training["examples"] if training else None,
        "ServingCheck": serving["rows"] if serving else None,
    }
    evaluated = slices[0]["rows"] if slices else None
    rows |= dict.fromkeys(EVALUATORS, evaluated)
    for component in summary["components"]:
        component["rows"] = rows.get(component["component"])

"""Wall time of the demo DAG against stock TFX components on the same rows.

    python -m benchmarks.dag [--rounds 2]

Both pipelines run in turn (A B A B), each in a process and a root of its own. Ours
reads the raw log; the stock one reads the shards that ours wrote, since TFX has no
component that splits a log by time. Writes ``benchmarks/results/dag_<stack>.json``.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import describe

RESULTS = Path(__file__).parent / "results"
SIDES = ("ours", "stock")


def run_side(side: str, work: Path) -> list[dict[str, Any]]:
    """Runs one pipeline in this process.

    Args:
        side: ``ours`` or ``stock``.
        work: folder with ``log`` (raw) and, for the stock side, ``shards``.

    Returns:
        Cost of each component, in order.
    """
    from pipeline.cli.quiet import silence

    silence()
    from benchmarks.stock_pipeline import create_stock_pipeline
    from pipeline.config import load
    from pipeline.local_runner import (
        LOCAL_BEAM_ARGS,
        Folders,
        MeasuredDagRunner,
        sqlite_connection,
    )
    from pipeline.observer import Silent
    from pipeline.pipeline import Locations, create_pipeline
    from pipeline.run import Recorder

    root = Path(tempfile.mkdtemp(dir=work))
    folders = Folders(root)
    recorder = Recorder(Silent())
    create = create_pipeline if side == "ours" else create_stock_pipeline
    pipeline = create(
        load(preset="demo"),
        Locations(
            input_base=str(work / ("log" if side == "ours" else "shards")),
            pipeline_root=str(folders.artifacts),
            serving=str(folders.serving),
            metadata=sqlite_connection(folders.metadata),
        ),
        LOCAL_BEAM_ARGS,
    )
    MeasuredDagRunner(recorder).run(pipeline)
    shards = work / "shards"
    if side == "ours" and not shards.exists():
        produced = next(folders.artifacts.glob("ClickLogExampleGen/examples/*"))
        shards.symlink_to(produced)
    return recorder.components


def measure(rounds: int, work: Path) -> dict[str, Any]:
    """Runs both sides in turn.

    Args:
        rounds: how often each side runs.
        work: scratch folder; the log is simulated into it.

    Returns:
        Wall and CPU seconds by side and component (medians), and the ratios.
    """
    from data.simulator.writing import write_log
    from pipeline.config import load

    config = load(preset="demo")
    assert config.simulate is not None
    write_log(config.simulate, work / "log", "parquet")
    runs: dict[str, list[list[dict[str, Any]]]] = {side: [] for side in SIDES}
    for number in range(rounds):
        for side in SIDES:
            target = work / f"{side}-{number}.json"
            command = [sys.executable, "-m", "benchmarks.dag", "--side", side]
            command += ["--work", str(work), "--result", str(target)]
            subprocess.run(command, check=True)
            runs[side].append(json.loads(target.read_text("utf-8")))
    return {"machine": describe(), "rounds": rounds, **_summary(runs)}


def _summary(runs: dict[str, list[list[dict[str, Any]]]]) -> dict[str, Any]:
    """Medians over the rounds, and ours over stock."""
    totals: dict[str, dict[str, float]] = {}
    components: dict[str, dict[str, dict[str, float]]] = {}
    for side, rounds in runs.items():
        names = [entry["component"] for entry in rounds[0]]
        totals[side] = {
            unit: statistics.median(sum(e[unit] for e in entries) for entries in rounds)
            for unit in ("wall_seconds", "cpu_seconds")
        }
        components[side] = {
            name: {
                unit: statistics.median(entries[i][unit] for entries in rounds)
                for unit in ("wall_seconds", "cpu_seconds", "peak_bytes")
            }
            for i, name in enumerate(names)
        }
    ratio = {
        unit: round(totals["ours"][unit] / totals["stock"][unit], 3)
        for unit in ("wall_seconds", "cpu_seconds")
    }
    return {"ratio": ratio, "totals": totals, "components": components}


def show(result: dict[str, Any]) -> None:
    """Prints the components side by side, and the ratio."""
    for side in SIDES:
        print(f"{side}: {result['totals'][side]}")
        for name, cost in result["components"][side].items():
            print(
                f"  {name:<24} {cost['wall_seconds']:7.1f} s wall "
                f"{cost['cpu_seconds']:7.1f} s CPU {cost['peak_bytes'] / 2**20:6.0f} MiB"
            )
    print(f"ours / stock: {result['ratio']} (bar: 1.5 of the wall time)")


def main() -> None:
    """Measures, prints and writes the result; with ``--side`` runs that side only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--result", type=Path)
    arguments = parser.parse_args()
    if arguments.side:
        costs = run_side(arguments.side, arguments.work)
        arguments.result.write_text(json.dumps(costs), "utf-8")
        # TensorFlow prints a traceback for each function torn down with the interpreter.
        os._exit(0)
    with tempfile.TemporaryDirectory() as work:
        result = measure(arguments.rounds, Path(work))
    show(result)
    stack = f"tfx{result['machine']['packages']['tfx']}"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"dag_{stack}.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

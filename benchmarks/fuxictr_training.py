"""CSV to trained model against FuxiCTR (PyTorch) on the same rows, on the processor.

    python -m benchmarks.fuxictr_training --fuxictr-python PATH [--rows 300000]
        [--seeds 0 1 2]

The interpreter needs the packages fuxictr and torch. Both sides train a DCN-v2 of equal
widths with equal batches, learning rate, epochs and vocabularies, and two threads; each
seed is a round in which both run in turn, in processes of their own. Times are wall
times, since FuxiCTR's preprocessing works in other processes; process start counts.
``end to end`` ends with the trained model: ours runs the components up to the Trainer
(statistics, schema and validation among them) and exports the model; theirs preprocesses
and fits. ``loop`` is the training alone, with its input. Test rows are scored outside the
clock. Writes ``benchmarks/results/fuxictr_<rows>_<stack>.json``.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.bars import at_least, write_result
from benchmarks.fuxictr_log import IDS, LABEL, NUMBERS, Log
from benchmarks.machine import describe

SIDES = ("ours", "fuxictr")
SCRIPT = Path(__file__).parent / "fuxictr_side.py"
TRAINING = {
    "embedding_dim": 16,
    "cross_layers": 2,
    "hidden": [128, 64],
    "batch_size": 1024,
    "learning_rate": 0.001,
    "epochs": 1,
    "min_count": 2,
    "threads": 2,
}
# What seeds alone move an AUC by.
AUC_NOISE = 0.002


def measure(rows: int, seeds: list[int], python: str, work: Path) -> dict[str, Any]:
    """Runs both sides in turn, once a seed.

    Args:
        rows: rows to train on; a sixth as many more are scored.
        seeds: of weights and order; the rows are the same.
        python: interpreter that has FuxiCTR.
        work: scratch folder.

    Returns:
        By side what each run printed.
    """
    log = Log(0)
    files = {
        "train": work / "log" / "train.csv",
        "test": work / "log" / "test.csv",
        # FuxiCTR's fit needs some; few, so that they cost nothing.
        "valid": work / "valid.csv",
    }
    for name, count in (("train", rows), ("test", rows // 6), ("valid", 2000)):
        log.write(files[name], count)
    fields = {"label": LABEL, "ids": IDS, "numbers": NUMBERS}
    paths = {name: str(path) for name, path in files.items()}
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    for seed in seeds:
        for side in SIDES:
            print(f"  seed {seed}: {side}", flush=True)
            own = {"seed": seed, "work": str(work / f"{side}-{seed}")}
            content = {**fields, **paths, **TRAINING, **own}
            runs[side].append(_run(side, content, python, work / f"{side}.json"))
    return runs


def _run(side: str, content: dict[str, Any], python: str, target: Path) -> Any:
    """Runs one side in a process of its own and reads the JSON it prints last."""
    command = [python, str(SCRIPT)]
    if side == "ours":
        command = [sys.executable, "-m", "benchmarks.fuxictr_training", "--ours"]
    target.write_text(json.dumps({**content, "started": time.time()}), "utf-8")
    done = subprocess.run(
        [*command, str(target)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
    )
    return json.loads(done.stdout.splitlines()[-1])


def summary(rows: int, runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians of the speeds and mean of AUC, by side."""
    examples = rows * int(TRAINING["epochs"])  # type: ignore[call-overload]
    return {
        side: {
            "end_to_end_examples_per_second": examples
            / statistics.median(one["end_to_end_seconds"] for one in entries),
            "loop_examples_per_second": examples
            / statistics.median(one["loop_seconds"] for one in entries),
            "auc": statistics.mean(one["auc"] for one in entries),
        }
        for side, entries in runs.items()
    }


def verdicts(found: dict[str, Any]) -> list[str]:
    """Each bar, what was measured, and whether it is met."""
    ours, theirs = (found[side] for side in SIDES)
    return [
        *(
            at_least(f"{name}, ours / fuxictr", ours[name] / theirs[name], 1)
            for name in ("end_to_end_examples_per_second", "loop_examples_per_second")
        ),
        at_least("AUC, ours less fuxictr", ours["auc"] - theirs["auc"], -AUC_NOISE),
    ]


def table_of(result: dict[str, Any]) -> Table:
    """The sides by row."""
    title = f"CSV to trained model, {result['rows']:,} rows, examples/s"
    table = Table(title=title, title_justify="left")
    for name in ("side", "end to end", "loop", "AUC by seed"):
        table.add_column(name, justify="left" if name == "side" else "right")
    for side, entry in result["summary"].items():
        table.add_row(
            side,
            f"{entry['end_to_end_examples_per_second']:,.0f}",
            f"{entry['loop_examples_per_second']:,.0f}",
            "  ".join(f"{one['auc']:.4f}" for one in result["runs"][side]),
        )
    return table


def main() -> None:
    """Measures, prints and writes the result; with ``--ours`` runs that side only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fuxictr-python", metavar="PATH")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--ours", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ours:
        from benchmarks.fuxictr_ours import run

        print(json.dumps(run(json.loads(arguments.ours.read_text("utf-8")))))
        sys.stdout.flush()
        # TensorFlow prints a traceback for each function torn down with the interpreter.
        os._exit(0)
    if not arguments.fuxictr_python:
        parser.error("not run: name FuxiCTR's interpreter with --fuxictr-python")
    with tempfile.TemporaryDirectory() as work:
        runs = measure(
            arguments.rows, arguments.seeds, arguments.fuxictr_python, Path(work)
        )
    result = {
        "machine": describe(),
        "rows": arguments.rows,
        "seeds": arguments.seeds,
        "training": TRAINING,
        "summary": summary(arguments.rows, runs),
        "runs": runs,
    }
    result["bars"] = verdicts(result["summary"])
    Console().print(table_of(result), *result["bars"], sep="\n")
    write_result(f"fuxictr_{arguments.rows}", result)


if __name__ == "__main__":
    main()

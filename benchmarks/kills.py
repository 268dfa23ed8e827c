"""Kills runs of a small DAG, and looks whether the next run makes everything whole.

    python -m benchmarks.kills [--seed 0] [--only STRATUM ...]

Each of thirty kills hits the second run in a folder: at a random moment inside a
component, or at a stage of the push. SIGKILL goes to the whole process group. The next
run must complete with the numbers of an undisturbed one; ``benchmarks.kill_checks`` lists
the rest. Writes ``benchmarks/results/kills_<stack>.json``.
"""

import argparse
import collections
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.bars import at_most, write_result
from benchmarks.machine import describe
from pipeline.cli.quiet import silence

# Stratum -> kills. Long components have more moments to be killed in.
PLAN = {
    "ClickLogExampleGen": 2,
    "latest_blessed_model": 1,
    "StatisticsGen": 2,
    "DeclaredSchemaGen": 1,
    "StoppingExampleValidator": 1,
    "DataChecks": 1,
    "Transform": 3,
    "PackExamples": 2,
    "Trainer": 3,
    "Evaluator": 2,
    "ModelGate": 1,
    "ServingCheck": 2,
    "AtomicPusher": 1,
    "before the copy": 2,
    "half copied": 2,
    "copied, not renamed": 2,
    "renamed, not recorded": 2,
}


def measure(plan: dict[str, int], seed: int, folder: Path) -> dict[str, Any]:
    """Carries out a plan.

    Args:
        plan: kills by stratum.
        seed: of the moments.
        folder: empty, for the runs.

    Returns:
        Seconds of an undisturbed run, and the kills with their faults.
    """
    from benchmarks.kill_runs import KillPoint, Runs

    moments = np.random.default_rng(seed)
    runs = Runs(folder)
    print(f"an undisturbed run: {runs.wall_seconds:.0f} s", flush=True)
    kills = []
    for stratum in (name for name, count in plan.items() for _ in range(count)):
        usual = runs.usual_seconds.get(stratum, 0.0)
        point = KillPoint(stratum=stratum, delay=float(moments.uniform(0, usual)))
        outcome = runs.kill(point)
        kills.append({"stratum": stratum, "delay": round(point.delay, 3), **outcome})
        print(f"{len(kills)}: {kills[-1]}", flush=True)
    return {
        "machine": describe(),
        "seed": seed,
        "undisturbed_seconds": round(runs.wall_seconds, 1),
        "kills": kills,
    }


def show(result: dict[str, Any]) -> None:
    """Prints kills and faults by stratum, and the bar."""
    table = Table(title="kills", title_justify="left")
    table.add_column("stratum")
    for column in ("kills", "without a fault", "equal weights", "next run, s"):
        table.add_column(column, justify="right")
    by_stratum = collections.defaultdict(list)
    for kill in result["kills"]:
        by_stratum[kill["stratum"]].append(kill)
    for stratum, kills in by_stratum.items():
        whole = sum(not kill["faults"] for kill in kills)
        bits = sum("weights" in kill["equal_bits"] for kill in kills)
        seconds = max(kill["next"] for kill in kills)
        counts = (str(count) for count in (len(kills), whole, bits))
        table.add_row(stratum, *counts, f"{seconds:.0f}")
    Console().print(table)
    faulty = sum(bool(kill["faults"]) for kill in result["kills"])
    print(at_most(f"kills with a fault, of {len(result['kills'])}", faulty, 0))


def main() -> None:
    """Measures, prints and writes the result; exit code 1 if there are faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", nargs="+", choices=PLAN, help="One kill in each of these, no file."
    )
    arguments = parser.parse_args()
    silence()
    plan = dict.fromkeys(arguments.only, 1) if arguments.only else PLAN
    with tempfile.TemporaryDirectory(prefix="ctr-kills-") as folder:
        result = measure(plan, arguments.seed, Path(folder))
    show(result)
    if not arguments.only:
        write_result("kills", result)
    sys.exit(any(kill["faults"] for kill in result["kills"]))


if __name__ == "__main__":
    main()

"""CPU a row from raw rows to what training reads: TFX's Transform, and ours.

    python -m benchmarks.transform [--rows 73728] [--rounds 3]

``tfx`` is the executor of TFX's Transform as a local run calls it, statistics off, which
writes a tf.Example for each transformed row. ``beam`` and ``here`` let it make the graph
alone and pack the rows as ``PackExamples`` does, in a Beam pipeline or in this process.
All start from the same GZIP shards of wide rows (``transform_files``).

Each run is a process of its own that works on few rows, twice, and then on many. The
difference of the last two is the cost of a row, so imports and building graphs are not
in it; what they leave is given apart, as the cost of a run without rows. CPU is that of
the process with its children. Sides run in turn; medians over the rounds. Writes
``benchmarks/results/transform_<stack>.json``.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.bars import write_result
from benchmarks.machine import describe
from benchmarks.transform_files import SHARDS, write_rows
from benchmarks.transform_sides import run_side
from data.manifest import read_manifest

FEW_ROWS = 8192
RESULT = "costs.json"
# At least so many times less CPU a row than TFX's Transform.
BARS = {"beam": 1.5, "here": 3.0}
SIDES = ("tfx", *BARS)


def timed(side: str, rows: Path) -> dict[str, float]:
    """Runs a side once in this process.

    Args:
        side: one of ``SIDES``.
        rows: what ``write_rows`` wrote.

    Returns:
        CPU and wall seconds, and bytes that training reads.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder)
        cpu, wall = _cpu_seconds(), time.perf_counter()
        run_side(side, rows, target)
        return {
            "cpu": _cpu_seconds() - cpu,
            "wall": time.perf_counter() - wall,
            "bytes": sum(
                path.stat().st_size for path in (target / "out/Split-train").iterdir()
            ),
        }


def _cpu_seconds() -> float:
    """Of this process and its children so far."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in (own, children))


def costs_of(side: str, work: Path) -> dict[str, float]:
    """What a row and a run cost, in this process.

    Args:
        side: one of ``SIDES``.
        work: folder with ``few`` and ``many`` rows.

    Returns:
        CPU and wall microseconds a row, CPU seconds of a run without rows, and bytes
        a row.
    """
    timed(side, work / "few")
    less, more = timed(side, work / "few"), timed(side, work / "many")
    rows = read_manifest(str(work / "many")).rows_read - FEW_ROWS
    row = {name: (more[name] - less[name]) / rows for name in less}
    return {
        "cpu_us": row["cpu"] * 1e6,
        "wall_us": row["wall"] * 1e6,
        "run_cpu_s": less["cpu"] - FEW_ROWS * row["cpu"],
        "bytes": row["bytes"],
    }


def measure(rows: int, rounds: int) -> dict[str, dict[str, float]]:
    """Runs all sides in turn.

    Args:
        rows: of the larger input.
        rounds: how often.

    Returns:
        By side the medians of ``costs_of``, and TFX's CPU a row over the side's.
    """
    runs: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_rows(work / "few", FEW_ROWS)
        write_rows(work / "many", rows)
        for _ in range(rounds):
            for side, entries in runs.items():
                command = [sys.executable, "-m", "benchmarks.transform"]
                command += ["--side", side, "--work", folder]
                subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
                entries.append(json.loads((work / RESULT).read_text("utf-8")))
    found = {
        side: {
            name: statistics.median(entry[name] for entry in entries)
            for name in entries[0]
        }
        for side, entries in runs.items()
    }
    for entry in found.values():
        entry["times_tfx"] = found["tfx"]["cpu_us"] / entry["cpu_us"]
    return found


def table_of(sides: dict[str, dict[str, float]]) -> Table:
    """The sides by row."""
    table = Table()
    table.add_column("side")
    for name in ("CPU us a row", "wall us a row", "CPU s a run", "bytes a row"):
        table.add_column(name, justify="right")
    table.add_column("tfx / it", justify="right")
    for side, entry in sides.items():
        table.add_row(side, *(f"{value:.1f}" for value in entry.values()))
    return table


def main() -> None:
    """Measures, prints and writes the result; with ``--side`` runs that side only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=73_728)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--work", type=Path)
    arguments = parser.parse_args()
    if arguments.side:
        costs = costs_of(arguments.side, arguments.work)
        (arguments.work / RESULT).write_text(json.dumps(costs), "utf-8")
        # TensorFlow prints a traceback for each function torn down with the interpreter.
        os._exit(0)
    rows = arguments.rows - arguments.rows % SHARDS
    sides = measure(rows, arguments.rounds)
    machine = describe()
    bars = [
        f"tfx / {side}: {sides[side]['times_tfx']:.2f} (bar {bar}): "
        f"{'met' if sides[side]['times_tfx'] >= bar else 'MISSED'}"
        for side, bar in BARS.items()
    ]
    Console().print(table_of(sides), *bars, sep="\n")
    result = {
        "machine": machine,
        "rows": {"few": FEW_ROWS, "many": rows},
        "rounds": arguments.rounds,
        "sides": sides,
        "bars": bars,
    }
    write_result("transform", result)


if __name__ == "__main__":
    main()

"""GAUC against what people use today: time and memory.

    python -m benchmarks.gauc [--rows 1000000] [--users 100000] [--rounds 3]
        [--fuxictr-python PATH] [--only NAME ...]

All contestants run in turn, round by round, on the same rows: uniform users and float64
scores, one click in twenty. ``fuxictr`` needs the interpreter of an environment that
has the package of this name, and is left out without one. Peaks of our own paths are
taken in processes of their own, above the memory that held the input.
Writes ``benchmarks/results/gauc_<rows>_<users>_<stack>.json``.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import scipy.sparse  # loaded here, so that no contestant pays for it
import scipy.special  # noqa: F401
from rich.console import Console
from rich.table import Table

from benchmarks.gauc_contestants import CONTESTANTS, OURS, read_rows, write_rows
from benchmarks.machine import describe
from components.metrics.columns import Columns

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("scipy", "pandas", "scikit-learn")
FUXICTR = Path(__file__).parent / "gauc_fuxictr.py"


def timed(
    function: Callable[[Columns], float | None], columns: Columns
) -> dict[str, Any]:
    """Runs a contestant once in this process.

    Args:
        function: one of ``CONTESTANTS``.
        columns: the rows.

    Returns:
        ``value``, ``wall_seconds`` and ``cpu_seconds``.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    value = function(columns)
    return {
        "value": value,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }


def peak_above_input(name: str, folder: Path) -> int:
    """Most memory that a path held beside its input; run in a fresh process.

    Args:
        name: one of ``OURS``.
        folder: with the input.

    Returns:
        Bytes.
    """
    columns = read_rows(folder)
    before = _status("VmRSS")
    CONTESTANTS[name](columns)
    return _status("VmHWM") - before


def _status(field: str) -> int:
    """Bytes of a field of the process status.

    ``ru_maxrss`` will not do: a child starts with that of its parent.
    """
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    line = next(line for line in lines if line.startswith(field))
    return int(line.split()[1]) * 1024


def measure(folder: Path, rounds: int, only: list[str], fuxictr: str) -> dict[str, Any]:
    """Runs all contestants in turn.

    Args:
        folder: with the input.
        rounds: how often each runs.
        only: names of the contestants.
        fuxictr: interpreter that has the package, or an empty text.

    Returns:
        By contestant: value, medians of wall and CPU seconds, and how many times as much
        CPU as ``gauc`` it took; of our own also the ``peak_bytes``, and of FuxiCTR the
        versions in its environment.
    """
    columns = read_rows(folder)
    runs: dict[str, list[dict[str, Any]]] = {}
    for _ in range(rounds):
        for name in only:
            runs.setdefault(name, []).append(timed(CONTESTANTS[name], columns))
        if fuxictr:
            runs.setdefault("fuxictr", []).append(
                _output([fuxictr, str(FUXICTR)], folder)
            )
    found = {
        name: entries[0]
        | {
            unit: statistics.median(entry[unit] for entry in entries)
            for unit in ("wall_seconds", "cpu_seconds")
        }
        for name, entries in runs.items()
    }
    for entry in found.values():
        entry["times_gauc"] = entry["cpu_seconds"] / found["gauc"]["cpu_seconds"]
    for name in (one for one in OURS if one in found):
        command = [sys.executable, "-m", "benchmarks.gauc", "--peak", name]
        found[name]["peak_bytes"] = _output(command, folder)
    return found


def _output(command: list[str], folder: Path) -> Any:
    """Runs a command on the input and reads the JSON that it prints."""
    done = subprocess.run(
        [*command, str(folder)], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def table_of(result: dict[str, Any]) -> Table:
    """The contestants by row."""
    title = f"GAUC of {result['rows']:,} rows of {result['users']:,} users"
    table = Table(title=title, title_justify="left")
    table.add_column("contestant")
    for name in ("value", "wall s", "CPU s", "CPU / gauc", "peak MB"):
        table.add_column(name, justify="right")
    for name, entry in result["contestants"].items():
        value, peak = entry["value"], entry.get("peak_bytes")
        table.add_row(
            name,
            "-" if value is None else f"{value:.6f}",
            f"{entry['wall_seconds']:.3f}",
            f"{entry['cpu_seconds']:.3f}",
            f"{entry['times_gauc']:.1f}",
            "-" if peak is None else f"{peak / 1e6:.0f}",
        )
    return table


def main() -> None:
    """Measures, prints and writes the result; with ``--peak`` measures one peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, default=CONTESTANTS)
    parser.add_argument("--fuxictr-python", default="", metavar="PATH")
    parser.add_argument("--peak", nargs=2, metavar=("NAME", "FOLDER"))
    arguments = parser.parse_args()
    if arguments.peak:
        name, folder = arguments.peak
        print(peak_above_input(name, Path(folder)))
        return
    rows, users = arguments.rows, arguments.users
    with tempfile.TemporaryDirectory() as work:
        write_rows(rows, users, Path(work))
        only = [name for name in CONTESTANTS if name in {*arguments.only, "gauc"}]
        found = measure(Path(work), arguments.rounds, only, arguments.fuxictr_python)
    machine = describe()
    machine["packages"] |= {name: version(name) for name in PACKAGES}
    result = {
        "machine": machine,
        "rows": rows,
        "users": users,
        "rounds": arguments.rounds,
        "contestants": found,
    }
    console = Console()
    console.print(table_of(result))
    if not arguments.fuxictr_python:
        console.print("fuxictr: not run; name an interpreter with --fuxictr-python")
    target = RESULTS / f"gauc_{rows}_{users}_tfx{machine['packages']['tfx']}.json"
    target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

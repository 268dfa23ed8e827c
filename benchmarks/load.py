"""How memory grows with rows, shards, one heavy user, and one column of many values.

    python -m benchmarks.load [--rows 5000000 50000000] [--beam-rows 5000000]
        [--shards 5000] [--folder PATH]

Each step is a command in a process of its own, its peak that of the process. Logs of the
given numbers of rows go through ``ctr simulate``, ``ingest``, ``verify`` and ``evaluate``;
one goes through the ingest as a Beam pipeline besides. The folder needs about 400 bytes a
row. Writes ``benchmarks/results/load_<stack>.json``.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.bars import at_most, write_result
from benchmarks.load_cases import (
    HEAVY_ROWS,
    MANY_VALUES,
    heavy_user,
    in_beam,
    many_shards,
    many_values,
    streamed,
)
from benchmarks.machine import describe


def main() -> None:
    """Runs every case and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000_000, 50_000_000])
    parser.add_argument("--beam-rows", type=int, default=5_000_000)
    parser.add_argument("--shards", type=int, default=5_000)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    cases: dict[str, Callable[[Path], Iterator[tuple[str, dict[str, Any]]]]] = {
        **{
            f"{rows:,} rows": lambda folder, rows=rows: streamed(rows, folder)
            for rows in arguments.rows
        },
        f"{arguments.beam_rows:,} rows in Beam": lambda folder: in_beam(
            arguments.beam_rows, folder
        ),
        f"{arguments.shards:,} shards": lambda folder: many_shards(
            arguments.shards, folder
        ),
        f"a user with {HEAVY_ROWS:,} rows": heavy_user,
        f"a column of {MANY_VALUES:,} values": many_values,
    }
    results: dict[str, dict[str, Any]] = {}
    for name, case in cases.items():
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            results[name] = {}
            for step, cost in case(Path(folder)):
                results[name][step] = {k: v for k, v in cost.items() if k != "output"}
                print(
                    f"{name}: {step}: {cost['wall_seconds']:.0f} s, CPU "
                    f"{cost['cpu_seconds']:.0f} s, peak {cost['peak_bytes'] / 1e6:.0f} MB",
                    flush=True,
                )
    show(results)
    bars = judge(results, arguments.rows)
    for bar in bars:
        print(bar)
    write_result("load", {"machine": describe(), "cases": results, "bars": bars})


def judge(results: dict[str, dict[str, Any]], rows: list[int]) -> list[str]:
    """Bars: flat memory of ingest and verify, and bytes a row of GAUC.

    Args:
        results: costs by case and step.
        rows: of the logs that were streamed, ascending.

    Returns:
        One line a bar.
    """
    few, many = (results[f"{one:,} rows"] for one in (rows[0], rows[-1]))
    bars = [
        at_most(
            f"peak of {step}, {rows[-1]:,} against {rows[0]:,} rows",
            many[step]["peak_bytes"] / few[step]["peak_bytes"],
            1.1,
        )
        for step in ("ingest", "verify")
    ]
    return [
        *bars,
        at_most(
            "bytes a row of evaluate",
            many["evaluate"]["peak_bytes"] / rows[-1],
            60,
        ),
    ]


def show(results: dict[str, dict[str, Any]]) -> None:
    """Prints the table."""
    table = Table()
    table.add_column("case")
    table.add_column("step")
    for name in ("wall s", "CPU s", "peak MB"):
        table.add_column(name, justify="right")
    for case, steps in results.items():
        for step, cost in steps.items():
            table.add_row(
                case,
                step,
                f"{cost['wall_seconds']:.0f}",
                f"{cost['cpu_seconds']:.0f}",
                f"{cost['peak_bytes'] / 1e6:,.0f}",
            )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()

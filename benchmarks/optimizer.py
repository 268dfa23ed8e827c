"""Row-sparse Adam against Keras' Adam: cost of a step, and what is learned.

    python -m benchmarks.optimizer [--rounds 5] [--steps 20] [--seeds 0 1 2]

A step is the Trainer's own (loss, gradients, update) on a DCN-v2 with 26 embedding
tables of width 16, one cross layer and a dense layer of 32. ``tables of 100,000`` times
both optimizers; ``growing tables`` times ours where the batches touch equally many rows
of ever larger tables. Contestants run in turn. ``quality`` trains the same network from
the same weights on the same simulated clicks in the same order with both.
Writes ``benchmarks/results/optimizer_<stack>.json``.
"""

import argparse
import statistics
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.bars import at_least, at_most, interleaved, medians, write_result
from benchmarks.machine import describe
from benchmarks.optimizer_quality import quality, ranks, simulated
from benchmarks.optimizer_step import (
    MODEL,
    OPTIMIZERS,
    PLACEMENTS,
    TABLES,
    TimedStep,
)

TABLE_ROWS = 100_000
# Keras' Adam takes at least so many times the CPU, by rows of a batch.
COST_BARS = {1024: 3.5, 256: 5.0}
SIZES = (5_000, 50_000, 500_000)
# Cost of the dearest size over that of the cheapest.
FLAT_BAR = 1.2
METRICS = ("auc", "gauc")


def compare_cost(rounds: int, count: int, table_rows: int) -> dict[str, Any]:
    """Both optimizers, by batch size.

    Args:
        rounds: how often each is timed.
        count: steps of each time.
        table_rows: rows of each table.

    Returns:
        By batch size and optimizer: milliseconds of CPU and wall a step.
    """
    found = {}
    for batch in COST_BARS:
        print(f"batch {batch}, tables of {table_rows:,}", flush=True)
        steps = {one: TimedStep(one, table_rows, batch) for one in OPTIMIZERS}
        runs: dict[str, list[dict[str, float]]] = {}
        for name in interleaved(rounds, OPTIMIZERS):
            runs.setdefault(name, []).append(steps[name].timed(count))
        found[str(batch)] = {name: medians(entries) for name, entries in runs.items()}
    return found


def grow_tables(rounds: int, count: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Our optimizer, by where the ids of a batch lie, and by rows of a table.

    Args:
        rounds: how often each size is timed.
        count: steps of each time.
        sizes: rows of the tables.

    Returns:
        By placement and rows of a table: milliseconds of CPU and wall a step.
    """
    print("growing tables", flush=True)
    steps = {str(rows): TimedStep("row_sparse", rows, 1024) for rows in sizes}
    runs: dict[str, dict[str, list[dict[str, float]]]] = {}
    for rows in interleaved(rounds, list(steps)):
        for placement in PLACEMENTS:
            entries = runs.setdefault(placement, {}).setdefault(rows, [])
            entries.append(steps[rows].timed(count, placement))
    return {
        placement: {rows: medians(entries) for rows, entries in by_rows.items()}
        for placement, by_rows in runs.items()
    }


def compare_quality(rows: int, seeds: list[int]) -> dict[str, list[dict[str, float]]]:
    """AUC and GAUC of the last day by optimizer, one entry a seed.

    Args:
        rows: rows of a log.
        seeds: of log, weights and order.

    Returns:
        By optimizer.
    """
    found: dict[str, list[dict[str, float]]] = {name: [] for name in OPTIMIZERS}
    for seed in seeds:
        ids, clicks = simulated(rows, seed)
        for name in OPTIMIZERS:
            found[name].append(ranks(quality(name, ids, clicks, seed)))
            print(f"quality, seed {seed}, {name}: {found[name][-1]}", flush=True)
    return found


def verdicts(result: dict[str, Any]) -> list[str]:
    """Each bar, what was measured, and whether it is met."""
    lines = [
        at_least(
            f"CPU of a step, batch {batch}: keras / row_sparse",
            entry["keras"]["cpu_ms"] / entry["row_sparse"]["cpu_ms"],
            COST_BARS[int(batch)],
        )
        for batch, entry in result["cost"].items()
    ]
    for placement, entries in result["growing_tables"].items():
        costs = [entry["cpu_ms"] for entry in entries.values()]
        lines.append(
            at_most(
                f"CPU of a step, ids {placement}, dearest / cheapest table",
                max(costs) / min(costs),
                FLAT_BAR,
            )
        )
    lines += [
        at_least(
            f"{metric}: row_sparse less keras, mean",
            statistics.mean(differences(result["quality"], metric)),
            0,
        )
        for metric in METRICS
    ]
    return lines


def differences(found: dict[str, list[dict[str, float]]], metric: str) -> list[float]:
    """Row-sparse less Keras, a seed each."""
    pairs = zip(found["row_sparse"], found["keras"], strict=True)
    return [ours[metric] - theirs[metric] for ours, theirs in pairs]


def show(result: dict[str, Any], console: Console) -> None:
    """Prints costs and quality as tables, and the bars."""
    costs = Table(title="a training step", title_justify="left")
    for name in ("contestant", "CPU ms", "wall ms"):
        costs.add_column(name, justify="left" if name == "contestant" else "right")
    groups = {
        **{f"batch {batch}, ": entry for batch, entry in result["cost"].items()},
        **{
            f"row_sparse, ids {placement}, tables of ": entries
            for placement, entries in result["growing_tables"].items()
        },
    }
    for group, entries in groups.items():
        for name, entry in entries.items():
            cells = (f"{entry[unit]:.2f}" for unit in ("cpu_ms", "wall_ms"))
            costs.add_row(group + name, *cells)
    ranked = Table(title="last day, mean (range) over seeds", title_justify="left")
    for name in ("optimizer", *METRICS):
        ranked.add_column(name)
    for name, runs in result["quality"].items():
        values = [[run[metric] for run in runs] for metric in METRICS]
        ranked.add_row(
            name,
            *(
                f"{statistics.mean(v):.4f} ({min(v):.4f} - {max(v):.4f})"
                for v in values
            ),
        )
    console.print(costs, ranked, *result["bars"], sep="\n")


def main() -> None:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20, help="of each time")
    parser.add_argument("--rows", type=int, default=320_000, help="of a log")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--shrink", type=int, default=1, help="divides the tables")
    arguments = parser.parse_args()
    rounds, count, shrink = arguments.rounds, arguments.steps, arguments.shrink
    sizes = tuple(rows // shrink for rows in SIZES)
    result: dict[str, Any] = {
        "machine": describe(),
        "model": MODEL.model_dump(mode="json"),
        "tables": TABLES,
        "rounds": rounds,
        "steps": count,
        "table_rows": TABLE_ROWS // shrink,
        "cost": compare_cost(rounds, count, TABLE_ROWS // shrink),
        "growing_tables": grow_tables(rounds, count, sizes),
        "rows": arguments.rows,
        "quality": compare_quality(arguments.rows, arguments.seeds),
    }
    result["bars"] = verdicts(result)
    show(result, Console())
    write_result("optimizer", result)


if __name__ == "__main__":
    main()

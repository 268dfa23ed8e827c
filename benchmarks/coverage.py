"""How often a 95 % interval holds the truth, on simulated logs.

    python -m benchmarks.coverage [--sets 2000] [--json]

A cell is a click rate, a tail of user activity and a number of users. The truth of a
metric is its value for ever more users of the same population: the mean over
``TRUTH_PARTS`` logs of ``TRUTH_USERS`` users each. Adds a line a cell to
``benchmarks/results/coverage_<stack>.jsonl``, which starts with the machine.
"""

import argparse
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.machine import describe
from benchmarks.simulated_clicks import FEWEST_ROWS, Population
from components.metrics.results import Estimate, SliceResult
from components.metrics.slice_metrics import evaluate_rows

RESULTS = Path(__file__).parent / "results"
CLICK_RATES = (0.01, 0.04)
USERS = (2_000, 20_000)
TRUTH_PARTS, TRUTH_USERS = 20, 200_000
LEVELS = ("gauc", "pcop", "auc", "log_loss", "normalized_entropy")
CHANGES = ("gauc", "log_pcop", "auc", "log_loss", "normalized_entropy")
TARGETS = (*LEVELS, *(f"delta_{name}" for name in CHANGES))
# Lowest and highest coverage wanted, by number of users.
BARS = {2_000: (0.92, 0.98), 20_000: (0.93, 0.97)}
LOOSE_BAR = (0.91, 0.98)  # of AUC and normalized entropy


def measure(
    population: Population, users: int, sets: int, truth: NDArray[np.float64]
) -> dict[str, dict[str, float]]:
    """Makes intervals on many logs.

    Args:
        population: what the logs are drawn from.
        users: users of a log.
        sets: number of logs.
        truth: float64 [targets], values that the intervals should hold.

    Returns:
        By name of ``TARGETS``: ``coverage`` of the intervals made, with the shares that
        lie wholly ``below`` and ``above`` the truth; the share of logs ``without`` an
        interval; the mean ``width`` over that of the normal interval with the true
        standard deviation; the ``bias`` in such deviations.
    """
    logs = (
        population.sample(users, np.random.default_rng([1, n])) for n in range(sets)
    )
    results = [_targets(evaluate_rows(log, "impressions")) for log in logs]
    values = np.array([[one.value for one in row] for row in results], float)
    ends = np.array(
        [[one.ci95 or (np.nan, np.nan) for one in row] for row in results], float
    )
    deviation = np.nanstd(values, axis=0, ddof=1)
    made = np.isfinite(ends[:, :, 0])
    below, above = ends[:, :, 1] < truth, ends[:, :, 0] > truth
    count = made.sum(axis=0)
    columns = {
        "coverage": 1.0 - (below | above).sum(axis=0) / count,
        "below": below.sum(axis=0) / count,
        "above": above.sum(axis=0) / count,
        "without": 1.0 - made.mean(axis=0),
        "width": np.nanmean(ends[:, :, 1] - ends[:, :, 0], axis=0) / 3.92 / deviation,
        "bias": (np.nanmean(values, axis=0) - truth) / deviation,
    }
    return {
        name: {key: round(float(column[at]), 4) for key, column in columns.items()}
        for at, name in enumerate(TARGETS)
    }


def truth_of(
    population: Population, parts: int = TRUTH_PARTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values for ever more users.

    Args:
        population: what the logs are drawn from.
        parts: logs of ``TRUTH_USERS`` users to take the mean over.

    Returns:
        float64 [targets], the values, and their standard errors.
    """
    logs = (
        population.sample(TRUTH_USERS, np.random.default_rng([0, n]))
        for n in range(parts)
    )
    results = [_targets(evaluate_rows(log, "impressions")) for log in logs]
    values = np.array([[one.value for one in row] for row in results], float)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / parts**0.5


def _targets(result: SliceResult) -> list[Estimate]:
    """The estimates judged, in the order of ``TARGETS``."""
    assert result.delta is not None
    return [
        *(result.metrics[name] for name in LEVELS),
        *(result.delta[name] for name in CHANGES),
    ]


def bar_of(target: str, users: int) -> tuple[float, float]:
    """Lowest and highest coverage wanted.

    Args:
        target: one of ``TARGETS``.
        users: users of a log, a key of ``BARS``.

    Returns:
        Both as shares.
    """
    loose = target.endswith(("_auc", "entropy")) or target == "auc"
    return LOOSE_BAR if loose else BARS[users]


def cells(sets: int) -> Iterator[dict[str, Any]]:
    """Measures every cell.

    Args:
        sets: logs of a cell.

    Yields:
        The cell with its truth and its targets.
    """
    populations = {
        key: Population(*key) for key in itertools.product(CLICK_RATES, FEWEST_ROWS)
    }
    truths = {key: truth_of(one) for key, one in populations.items()}
    for users, key in itertools.product(USERS, populations):
        start = time.process_time()
        truth, error = truths[key]
        targets = measure(populations[key], users, sets, truth)
        for at, target in enumerate(targets.values()):
            target["truth"], target["truth_error"] = float(truth[at]), float(error[at])
        yield {
            "click_rate": key[0],
            "tail": key[1],
            "users": users,
            "sets": sets,
            "cpu_seconds": round(time.process_time() - start, 1),
            "targets": targets,
        }


def table_of(found: list[dict[str, Any]]) -> Table:
    """Coverage by cell and target; a star marks what misses its bar.

    Args:
        found: what :func:`cells` gave.

    Returns:
        One row a cell.
    """
    table = Table(title="coverage of 95 % intervals, %", title_justify="left")
    for name in ("CTR", "tail", "users", *TARGETS):
        table.add_column(name, justify="right")
    for cell in found:
        row = [f"{cell['click_rate']:.0%}", f"{cell['tail']}", f"{cell['users']:,}"]
        for name, target in cell["targets"].items():
            low, high = bar_of(name, cell["users"])
            star = "" if low <= target["coverage"] <= high else "*"
            row.append(f"{100 * target['coverage']:.1f}{star}")
        table.add_row(*row)
    return table


def main() -> None:
    """Measures, writes a line a cell and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--json", action="store_true", help="print lines, no table")
    arguments = parser.parse_args()
    machine = describe()
    target = RESULTS / f"coverage_tfx{machine['packages']['tfx']}.jsonl"
    target.write_text(json.dumps({"machine": machine}) + "\n", "utf-8")
    found = []
    for cell in cells(arguments.sets):
        found.append(cell)
        with target.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(cell) + "\n")
        if arguments.json:
            print(json.dumps(cell), flush=True)
    if not arguments.json:
        Console().print(table_of(found))


if __name__ == "__main__":
    main()

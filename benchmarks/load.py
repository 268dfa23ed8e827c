"""How memory grows with rows, shards, one heavy user, and one column of many values.

    python -m benchmarks.load [--rows 5000000 50000000] [--beam-rows 5000000]
        [--shards 5000] [--folder PATH]

Each step is a command in a process of its own, its peak that of the process. Logs of the
given numbers of rows go through ``ctr simulate``, ``ingest``, ``verify`` and ``evaluate``;
one goes through the ingest as a Beam pipeline besides. The folder needs about 400 bytes a
row. Writes ``benchmarks/results/load_<stack>.json``.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from rich.console import Console
from rich.table import Table

from benchmarks.bars import at_most, write_result
from benchmarks.machine import describe

_ROWS_A_GROUP = 1 << 20
_HEAVY_ROWS = 2_000_000
_MANY_VALUES = 10_000_000
_KEYS = ("--label", "click", "--prediction", "prediction", "--user", "user_id")
# The ingest of any runner but one that works here alone.
_BEAM = """
import sys
from components.example_gen.run import ingest, local_pipeline
from pipeline.config import load
ingest([sys.argv[1]], load(preset="demo").data, sys.argv[2], pipeline=local_pipeline())
"""


def measured(*command: str) -> dict[str, Any]:
    """Runs a command.

    Args:
        command: arguments of this Python.

    Returns:
        Wall and CPU seconds, peak resident bytes, and the last line of its output.

    Raises:
        SystemExit: it failed.
    """
    reading, writing = os.pipe()
    start = time.perf_counter()
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, *command],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)],
    )
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    # Of this one child; the sum over all children would keep the largest ever.
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: failed")
    return {
        "wall_seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_bytes": usage.ru_maxrss * 1024,
        "output": lines[-1] if lines else "",
    }


def ctr(*arguments: object) -> dict[str, Any]:
    """Runs ``ctr ... --json``; its JSON is under ``output``."""
    done = measured("-m", "pipeline.cli.main", *map(str, arguments), "--json")
    return done | {"output": json.loads(done["output"])}


def streamed(rows: int, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """One log through all commands.

    Args:
        rows: of the log.
        folder: empty; holds what was made until the end.

    Yields:
        Name of the step and its cost.
    """
    log, out = folder / "log", folder / "shards"
    days, users = 5, max(1000, rows // 50)
    yield (
        "simulate",
        ctr(
            *("simulate", "--output", log, "--rows", rows, "--users", users),
            *("--days", days, "--format", "parquet"),
        ),
    )
    done = ctr("ingest", "--preset", "demo", "--input", log, "--output", out)
    assert done["output"]["rows_written"] == rows
    yield "ingest", done
    yield "verify", ctr("verify", out)
    shutil.rmtree(out)
    predictions = folder / "predictions.parquet"
    write_predictions(
        predictions,
        (
            {
                "click": batch.column("click"),
                "prediction": batch.column("true_probability"),
                "user_id": batch.column("user_id"),
            }
            for file in sorted(log.rglob("*.parquet"))
            for batch in parquet.ParquetFile(file).iter_batches(_ROWS_A_GROUP)
        ),
    )
    done = ctr("evaluate", "--predictions", predictions, *_KEYS)
    assert done["output"]["slices"][0]["rows"] == rows
    yield "evaluate", done


def in_beam(rows: int, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The ingest as a Beam pipeline in one process."""
    log = folder / "log"
    ctr("simulate", "--output", log, "--rows", rows, "--format", "parquet")
    yield "ingest in Beam", measured("-c", _BEAM, str(log), str(folder / "shards"))
    yield "verify", ctr("verify", folder / "shards")


def many_shards(count: int, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """A log in many shards: four of five hold rows to train on."""
    log, out = folder / "log", folder / "shards"
    ctr("simulate", "--output", log, "--rows", 1_000_000, "--format", "parquet")
    train = count * 4 // 5
    done = ctr(
        *("ingest", "--preset", "demo", "--input", log, "--output", out),
        *("--shards", train),
    )
    assert sum(one["shards"] for one in done["output"]["splits"].values()) == count
    yield "ingest", done
    yield "verify", ctr("verify", out)


def heavy_user(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """A user who holds two million of two and a half million rows."""
    chance = np.random.default_rng(0)
    rows = _HEAVY_ROWS * 5 // 4
    users = np.where(np.arange(rows) < _HEAVY_ROWS, 0, chance.integers(1, 20_000, rows))
    score = chance.random(rows)
    path = folder / "predictions.parquet"
    write_predictions(
        path,
        [
            {
                "click": chance.random(rows) < score * 0.1,
                "prediction": score * 0.1,
                "user_id": users,
            }
        ],
    )
    yield "evaluate", ctr("evaluate", "--predictions", path, *_KEYS)


def many_values(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """A column whose ten million values are all different."""
    chance = np.random.default_rng(0)
    rows = _MANY_VALUES
    path = folder / "log" / "log.parquet"
    path.parent.mkdir()
    write_predictions(
        path,
        (
            {
                "click": chance.integers(0, 20, n) == 0,
                "prediction": chance.random(n),
                "user_id": chance.integers(0, rows // 50, n),
                "item": pa.array(np.arange(start, start + n)).cast(pa.string()),
            }
            for start in range(0, rows, _ROWS_A_GROUP)
            for n in [min(_ROWS_A_GROUP, rows - start)]
        ),
    )
    config = folder / "many.yaml"
    config.write_text(
        "name: many\n"
        "data:\n"
        "  keys: {label: click, user_id: user_id}\n"
        "  split: {by: hash, columns: [user_id]}\n"
        "  features: [{kind: categorical, name: item, buckets: 1000000}]\n"
    )
    out = folder / "shards"
    yield "ingest", ctr("ingest", "--config", config, "--input", path, "--output", out)
    yield "verify", ctr("verify", out)
    shutil.rmtree(out)
    yield (
        "evaluate, 20 largest slices",
        ctr(
            *("evaluate", "--predictions", path, *_KEYS),
            *("--top-slices", "item:20"),
        ),
    )


def write_predictions(path: Path, parts: Any) -> None:
    """Writes columns part by part, labels as integers.

    Args:
        path: the Parquet file.
        parts: columns by name, of each part.
    """
    writer: parquet.ParquetWriter | None = None
    for part in parts:
        columns = {
            name: values if isinstance(values, pa.Array) else pa.array(values)
            for name, values in part.items()
        }
        columns["click"] = columns["click"].cast(pa.int64())
        table = pa.table(columns)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


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
        f"a user with {_HEAVY_ROWS:,} rows": heavy_user,
        f"a column of {_MANY_VALUES:,} values": many_values,
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

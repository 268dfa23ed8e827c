"""The cases of ``benchmarks.load``: what is run, and on which rows."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

_ROWS_A_GROUP = 1 << 20
HEAVY_ROWS = 2_000_000
MANY_VALUES = 10_000_000
_KEYS = ("--label", "click", "--prediction", "prediction", "--user", "user_id")
# A process begins with the peak of the one that started it, so a small one is between.
_SMALL_PARENT = """
import json, os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
cpu = round(usage.ru_utime + usage.ru_stime, 1)
print(json.dumps({"cpu_seconds": cpu, "peak_bytes": usage.ru_maxrss * 1024}))
sys.exit(os.waitstatus_to_exitcode(status))
"""
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
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-S", "-c", _SMALL_PARENT, sys.executable, *command],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: failed")
    *lines, usage = done.stdout.splitlines()
    cost: dict[str, Any] = json.loads(usage)
    cost["wall_seconds"] = round(time.perf_counter() - start, 1)
    return cost | {"output": lines[-1] if lines else ""}


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
    rows = HEAVY_ROWS * 5 // 4
    users = np.where(np.arange(rows) < HEAVY_ROWS, 0, chance.integers(1, 20_000, rows))
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
    rows = MANY_VALUES
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


def write_predictions(path: Path, parts: Iterable[Mapping[str, Any]]) -> None:
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

"""What an example costs on its way from the file to the batch.

    python -m benchmarks.input [--rows 262144] [--rounds 5] [--seconds 3]

The published recipe (list_files, interleave, map(parse_single_example), batch(256),
prefetch; padded_batch where there are lists), our block reader on the same GZIP files,
and packed shards of the same rows, GZIP and plain, in file order and shuffled; each in
turn, round by round, read by a Python loop over its batches after a warm-up. ``gunzip``
only decompresses the packed GZIP files. One epoch of each of ours is checked: every row
once, and the rank correlation of neighbours after shuffling. CPU per example is the
figure to compare: wall time depends on what else the machine does.
Writes ``benchmarks/results/input_<schema>_<stack>.json``.
"""

import argparse
import itertools
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from rich.console import Console
from rich.table import Table

from benchmarks.bars import write_result
from benchmarks.input_files import (
    LABEL,
    NUMBER,
    SCHEMAS,
    SHARDS,
    inputs_of,
    write_files,
)
from benchmarks.machine import describe
from components import input_fn, packed_input_fn
from components.profiling.recipe import published_rows
from data.inputs import ModelInput
from data.records import CHUNK_BYTES

RECIPE_BATCH = 256
BATCH = 4096
WARM_UP_SECONDS = 1.0
# At least so many times cheaper than the recipe, by schema and contestant.
BARS = {
    "narrow": {"blocks": 25},
    "wide": {"blocks": 9, "packed_gzip": 35, "packed_plain": 100},
}
# Share of the speed of decompression alone, of the packed GZIP files.
GUNZIP_SHARE = 0.5
MAX_CORRELATION = 0.02


def recipe_rows(
    files: list[str], inputs: tuple[ModelInput, ...]
) -> tuple[tf.data.Dataset, dict[str, list[int]]]:
    """Rows as tutorials read them, and the shape of each column to pad them to.

    Args:
        files: files of ``write_files``.
        inputs: what to read beside the label.

    Returns:
        A dict of tensors for each row, and shapes without the batch.
    """
    kinds: dict[str, Any] = {LABEL: tf.io.FixedLenFeature([], tf.int64)}
    shapes: dict[str, list[int]] = {LABEL: []}
    for one in inputs:
        kind = tf.int64 if one.table else tf.float32
        shapes[one.name] = [one.length] if one.length else []
        kinds[one.name] = tf.io.FixedLenFeature(shapes[one.name], kind)
        if one.name.startswith("list_"):
            kinds[one.name] = tf.io.FixedLenSequenceFeature(
                [], kind, allow_missing=True
            )
    return published_rows(files, kinds), shapes


def recipe(files: list[str], schema: str) -> tf.data.Dataset:
    """The input pipeline of tutorials; an element is a dict of 256 rows."""
    rows, shapes = recipe_rows(files, inputs_of(schema))
    if schema == "wide":
        return rows.padded_batch(RECIPE_BATCH, shapes).prefetch(tf.data.AUTOTUNE)
    return rows.batch(RECIPE_BATCH).prefetch(tf.data.AUTOTUNE)


def ours(
    reader: Callable[..., tf.data.Dataset], files: list[str], schema: str, shuffle: int
) -> tf.data.Dataset:
    """One of our readers on all inputs of a schema."""
    return reader(
        files, inputs_of(schema), LABEL, batch_size=BATCH, shuffle_rows=shuffle
    )


def contestants(schema: str, rows: int, folder: Path) -> dict[str, tf.data.Dataset]:
    """The data sets to time; shuffling windows hold all rows."""

    def files(name: str) -> list[str]:
        return sorted(str(path) for path in (folder / name / "data").iterdir())

    readers = {
        "blocks": (input_fn.dataset, "rows"),
        "packed_gzip": (packed_input_fn.dataset, "packed_gzip"),
        "packed_plain": (packed_input_fn.dataset, "packed_plain"),
    }
    found = {"recipe": recipe(files("rows"), schema)}
    for name, (reader, source) in readers.items():
        found[name] = ours(reader, files(source), schema, 0)
        found[f"{name}_shuffled"] = ours(reader, files(source), schema, rows)
    return found


def timed(data: tf.data.Dataset, seconds: float) -> dict[str, float]:
    """Reads batches for a while.

    Args:
        data: elements that are a dict, or a tuple whose first item is one.
        seconds: how long, after the warm-up.

    Returns:
        Wall and CPU microseconds an example.
    """
    batches = iter(data.repeat())
    _read(batches, WARM_UP_SECONDS)
    wall, cpu = time.perf_counter(), time.process_time()
    rows = _read(batches, seconds)
    return {
        "wall_us": (time.perf_counter() - wall) / rows * 1e6,
        "cpu_us": (time.process_time() - cpu) / rows * 1e6,
    }


def _read(batches: Iterator[Any], seconds: float) -> int:
    """Rows read within some seconds."""
    rows, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        batch = next(batches)
        rows += int((batch if isinstance(batch, dict) else batch[0])[NUMBER].shape[0])
    return rows


def gunzip(folder: Path, rows: int) -> dict[str, float]:
    """Decompresses files with zlib and drops the result."""
    wall, cpu = time.perf_counter(), time.process_time()
    for path in folder.iterdir():
        decoder = zlib.decompressobj(wbits=31)
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                decoder.decompress(chunk)
    return {
        "wall_us": (time.perf_counter() - wall) / rows * 1e6,
        "cpu_us": (time.process_time() - cpu) / rows * 1e6,
    }


def order_of(data: tf.data.Dataset, rows: int) -> dict[str, Any]:
    """Whether an epoch has each row once, and how neighbours correlate.

    Rows are numbered, so the correlation of their numbers is that of their ranks.
    """
    numbers = np.concatenate([batch[0][NUMBER].numpy() for batch in data])
    once = bool(np.array_equal(np.sort(numbers), np.arange(rows)))
    return {
        "each_row_once": once,
        "neighbour_correlation": float(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]),
    }


def measure(schema: str, rows: int, rounds: int, seconds: float) -> dict[str, Any]:
    """Times all contestants on one schema.

    Args:
        schema: ``narrow`` or ``wide``.
        rows: rows of an epoch.
        rounds: how often each runs.
        seconds: of each run.

    Returns:
        By contestant the medians, and how many times cheaper than the recipe it is.
    """
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        write_files(schema, rows, folder)
        data = contestants(schema, rows, folder)
        runs: dict[str, list[dict[str, float]]] = {}
        for _, name in itertools.product(range(rounds), [*data, "gunzip"]):
            runs.setdefault(name, []).append(
                gunzip(folder / "packed_gzip" / "data", rows)
                if name == "gunzip"
                else timed(data[name], seconds)
            )
        found: dict[str, dict[str, Any]] = {
            name: {
                unit: statistics.median(entry[unit] for entry in entries)
                for unit in ("wall_us", "cpu_us")
            }
            for name, entries in runs.items()
        }
        for name, entry in found.items():
            entry["times_recipe"] = found["recipe"]["cpu_us"] / entry["cpu_us"]
            if name in data and name != "recipe":
                entry |= order_of(data[name], rows)
        sizes = {
            part.name: sum(path.stat().st_size for path in (part / "data").iterdir())
            for part in sorted(folder.iterdir())
        }
    return {"bytes": sizes, "contestants": found}


def verdicts(schema: str, found: dict[str, dict[str, Any]]) -> list[str]:
    """Each bar, what was measured, and whether it is met."""
    lines = [
        _verdict(f"{name} / recipe", found[name]["times_recipe"], bar)
        for name, bar in BARS[schema].items()
    ]
    share = found["gunzip"]["cpu_us"] / found["packed_gzip"]["cpu_us"]
    lines.append(_verdict("packed_gzip / gunzip", share, GUNZIP_SHARE))
    for name, entry in found.items():
        if name.endswith("_shuffled"):
            spare = MAX_CORRELATION - abs(entry["neighbour_correlation"])
            lines.append(_verdict(f"{name}: correlation below bar by", spare, 0))
    return lines


def _verdict(what: str, value: float, bar: float) -> str:
    """One bar as a line."""
    return f"{what}: {value:.3g} (bar {bar}): {'met' if value >= bar else 'MISSED'}"


def table_of(schema: str, result: dict[str, Any]) -> Table:
    """The contestants by row."""
    table = Table(title=f"{schema}, {result['rows']:,} rows", title_justify="left")
    table.add_column("contestant")
    for name in ("CPU us", "wall us", "recipe / it", "each row once", "correlation"):
        table.add_column(name, justify="right")
    for name, entry in result["contestants"].items():
        order = entry.get("neighbour_correlation")
        table.add_row(
            name,
            f"{entry['cpu_us']:.2f}",
            f"{entry['wall_us']:.2f}",
            f"{entry['times_recipe']:.1f}",
            str(entry.get("each_row_once", "-")),
            "-" if order is None else f"{order:.4f}",
        )
    return table


def main() -> None:
    """Measures, prints and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=262_144)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--schema", nargs="+", choices=SCHEMAS, default=SCHEMAS)
    arguments = parser.parse_args()
    rows = arguments.rows - arguments.rows % SHARDS
    console = Console()
    for schema in arguments.schema:
        machine = describe()
        result = {
            "machine": machine,
            "schema": schema,
            "rows": rows,
            "rounds": arguments.rounds,
            "batch": {"recipe": RECIPE_BATCH, "ours": BATCH},
            **measure(schema, rows, arguments.rounds, arguments.seconds),
        }
        result["bars"] = verdicts(schema, result["contestants"])
        console.print(table_of(schema, result), *result["bars"], sep="\n")
        write_result(f"input_{schema}", result)


if __name__ == "__main__":
    main()

"""Cost of our metrics inside TFMA against TFMA's own AUC and Calibration.

    python -m benchmarks.tfma_columns [--rows 2000000] [--stock-rows 50000]

Each side evaluates simulated predictions in TFRecord shards, every row in twelve slices
(all rows and eleven features), with FnApiRunner in a process of its own. TFMA's own
metrics go row by row, so they are measured on fewer rows, less the cost of a start on a
thousand rows, and scaled. Writes ``benchmarks/results/tfma_columns_<stack>.json``.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.machine import describe
from data.examples import encode
from data.records import frame_all

RESULTS = Path(__file__).parent / "results"
FEATURES = tuple(f"f{number}" for number in range(11))
_START_ROWS = 1000
_SHARDS = 8
SIDES = ("ours", "stock")


def write_rows(folder: Path, rows: int, seed: int = 0) -> None:
    """Writes simulated predictions as GZIP TFRecord shards.

    Args:
        folder: directory to make.
        rows: number of rows; twenty a user on average.
        seed: of the generator.
    """
    rng = np.random.default_rng(seed)
    users = rng.zipf(1.3, rows) % max(rows // 20, 1)
    scores = rng.beta(1.0, 19.0, rows).astype(np.float32)
    columns = {
        "user": [f"user{user}" for user in users.tolist()],
        "label": (rng.random(rows) < scores).astype(np.int64),
        "prediction": scores,
    }
    columns |= {name: rng.integers(0, 2 + at, rows) for at, name in enumerate(FEATURES)}
    table = pa.table(columns)
    folder.mkdir(parents=True)
    size = -(-rows // _SHARDS)
    for shard in range(_SHARDS):
        path = folder / f"rows-{shard:05d}-of-{_SHARDS:05d}.gz"
        with gzip.open(path, "wb", compresslevel=1) as file:
            for batch in table.slice(shard * size, size).to_batches(1 << 16):
                file.write(frame_all(encode(batch)))


def evaluate(side: str, pattern: str, output: str) -> None:
    """Runs one evaluation in this process.

    Args:
        side: ``ours`` or ``stock``.
        pattern: the shards.
        output: folder for TFMA's result.
    """
    import apache_beam as beam
    import tensorflow_model_analysis as tfma
    from google.protobuf import text_format
    from tensorflow_model_analysis.proto import config_pb2
    from tfx_bsl.tfxio import tf_example_record

    from components.evaluation import eval_config
    from components.extractors import custom_extractors

    slices = [[name] for name in FEATURES]
    if side == "ours":
        config = eval_config(label_key="label", user_key="user", slices=slices)
    else:
        specs = " ".join(f'slicing_specs {{ feature_keys: "{n}" }}' for n in FEATURES)
        config = text_format.Parse(
            'model_specs { label_key: "label" } slicing_specs {} '
            f"{specs} metrics_specs {{ "
            'metrics { class_name: "AUC" } metrics { class_name: "Calibration" } } '
            "options { include_default_metrics { value: false } }",
            config_pb2.EvalConfig(),
        )
    config.model_specs[0].prediction_key = "prediction"
    make = custom_extractors if side == "ours" else tfma.default_extractors
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        source = tf_example_record.TFExampleRecord(
            pattern, raw_record_column_name=tfma.ARROW_INPUT_COLUMN
        )
        _ = (
            pipeline
            | "Read" >> source.RawRecordBeamSource()
            | "Decode" >> source.RawRecordToRecordBatch()
            | tfma.ExtractEvaluateAndWriteResults(
                eval_config=config,
                extractors=make(eval_config=config),
                output_path=output,
            )
        )


def measure(side: str, folder: Path) -> dict[str, float]:
    """Evaluates in a process of its own.

    Args:
        side: ``ours`` or ``stock``.
        folder: directory of the shards.

    Returns:
        Wall and CPU seconds, and peak resident bytes of all its processes.
    """
    command = [sys.executable, "-m", "benchmarks.tfma_columns", "--side", side]
    answer = subprocess.run(
        [*command, "--folder", str(folder)], capture_output=True, text=True, check=True
    )
    usage: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return usage


def run_side(side: str, folder: str) -> None:
    """What the process of one measurement does: evaluates and prints the cost."""
    from pipeline.cli.quiet import silence
    from pipeline.usage import measured

    silence()
    with measured() as usage, tempfile.TemporaryDirectory() as output:
        evaluate(side, f"{folder}/*.gz", output)
    print(json.dumps(vars(usage)))


def compare(rows: int, stock_rows: int) -> dict[str, Any]:
    """Measures both sides.

    Args:
        rows: rows of our side.
        stock_rows: rows of the other.

    Returns:
        Costs and CPU a row of both, and their ratio.
    """
    result: dict[str, Any] = {"rows": rows, "stock_rows": stock_rows, "slices": 12}
    with tempfile.TemporaryDirectory() as work:
        counts = {"ours": rows, "stock": stock_rows}
        folders = {
            count: Path(work, str(count)) for count in {*counts.values(), _START_ROWS}
        }
        for count, folder in folders.items():
            write_rows(folder, count)
        for side in SIDES:
            start = measure(side, folders[_START_ROWS])
            full = measure(side, folders[counts[side]])
            beyond = full["cpu_seconds"] - start["cpu_seconds"]
            per_row = beyond / (counts[side] - _START_ROWS)
            result[side] = {**full, "cpu_microseconds_a_row": per_row * 1e6}
    result["cpu_ratio"] = (
        result["stock"]["cpu_microseconds_a_row"]
        / result["ours"]["cpu_microseconds_a_row"]
    )
    return result


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--stock-rows", type=int, default=50_000)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        run_side(arguments.side, arguments.folder)
        return
    content = describe() | compare(arguments.rows, arguments.stock_rows)
    target = RESULTS / f"tfma_columns_tfx{content['packages']['tfx']}.json"
    target.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    for side in SIDES:
        cost = content[side]
        print(
            f"{side}: {cost['cpu_microseconds_a_row']:.1f} us CPU a row, "
            f"peak {cost['peak_bytes'] / 2**30:.2f} GiB, "
            f"{cost['wall_seconds']:.0f} s wall"
        )
    print(f"ratio of CPU: {content['cpu_ratio']:.1f}")


if __name__ == "__main__":
    main()

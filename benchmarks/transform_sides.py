"""The contestants of the benchmark of Transform and packing."""

import json
from pathlib import Path
from typing import Any

import apache_beam as beam
import tensorflow_transform as tft
from tfx.components.transform.executor import Executor
from tfx.proto import transform_pb2
from tfx.types import standard_artifacts
from tfx.utils import proto_utils

from benchmarks.transform_files import dataset
from components.example_gen.run import LOCAL_RUNNER
from components.model_inputs import inputs_of
from components.packing.layout import layout_of
from components.packing.pack import pack
from components.packing.shard import PackJob
from pipeline.pipeline import PREPROCESSING_FN


def run_side(side: str, rows: Path, target: Path) -> None:
    """Transforms all rows in this process.

    Args:
        side: ``tfx``, ``beam`` or ``here``.
        rows: what ``write_rows`` wrote.
        target: receives the graph, and what training reads in a folder ``out``.
    """
    run_transform(rows, target, materialize=side == "tfx")
    if side == "tfx":
        return
    graph = tft.TFTransformOutput(str(target / "graph"))
    job = PackJob(
        source=str(rows),
        transform=str(target / "graph"),
        target=str(target / "out"),
        layout=layout_of(dataset(), inputs_of(dataset(), graph)),
        compress=True,
    )
    pipeline = beam.Pipeline(argv=[LOCAL_RUNNER]) if side == "beam" else None
    pack(job, ["train"], pipeline)


def run_transform(rows: Path, target: Path, *, materialize: bool) -> None:
    """Calls the executor of TFX's Transform.

    Args:
        rows: what ``write_rows`` wrote.
        target: receives the graph, and the rows in a folder ``out``.
        materialize: write the transformed rows, too.
    """
    examples = standard_artifacts.Examples()
    examples.uri, examples.split_names = str(rows), '["train"]'
    schema = standard_artifacts.Schema()
    schema.uri = str(rows / "schema")
    graph = standard_artifacts.TransformGraph()
    graph.uri = str(target / "graph")
    outputs: dict[str, list[Any]] = {"transform_graph": [graph]}
    splits = transform_pb2.SplitsConfig(analyze=["train"])
    if materialize:
        transformed = standard_artifacts.Examples()
        transformed.uri = str(target / "out")
        outputs["transformed_examples"] = [transformed]
        splits.transform.append("train")
    context = Executor.Context(
        beam_pipeline_args=[LOCAL_RUNNER], tmp_dir=str(target / "tmp"), unique_id="1"
    )
    Executor(context).Do(
        {"examples": [examples], "schema": [schema]},
        outputs,
        {
            "preprocessing_fn": PREPROCESSING_FN,
            "custom_config": json.dumps({"dataset": dataset().model_dump_json()}),
            "splits_config": proto_utils.proto_to_json(splits),
            "disable_statistics": 1,
            "force_tf_compat_v1": 0,
        },
    )

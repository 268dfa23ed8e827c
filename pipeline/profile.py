"""Profiles the training of a pipeline on rows that it packed before, or packs them."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow_transform as tft
from tfx.dsl.compiler import compiler
from tfx.proto.orchestration import pipeline_pb2

from components.config import StagingConfig
from components.model_inputs import inputs_of
from components.packing.layout import layout_of
from components.profiling.profile import profile
from components.training_rows import PackedSplit, TrainingRows
from data import paths
from data.packed_shards import read_layout
from pipeline import local_runner
from pipeline.config import PipelineConfig
from pipeline.history import History
from pipeline.observer import Observer
from pipeline.pipeline import Locations, create_pipeline
from pipeline.run import check_exists, simulated

_PACK = "PackExamples"


@dataclasses.dataclass(frozen=True)
class Packed:
    """Packed rows and the transform that made them, as folders."""

    rows: str
    transform: str


def run(
    config: PipelineConfig,
    input_base: str | None,
    root: Path,
    observer: Observer,
    *,
    seconds: float,
    compare: bool,
    note: Callable[[str], None],
) -> dict[str, Any]:
    """Profiles a training.

    Args:
        config: the configuration.
        input_base: log to pack where nothing is packed yet; by the configuration when
            None.
        root: folder of all pipelines.
        observer: hears of each component that has to run, and what is measured.
        seconds: of each measurement.
        compare: also measure the input pipeline of tutorials.
        note: hears which rows are profiled.

    Returns:
        The report as plain values, with the folder of the rows under ``packed``.

    Raises:
        UsageError: nothing is packed and there is no input.
        DataError: packed rows are damaged.
        CtrError: a component failed.
    """
    folders = local_runner.Folders((root / config.name).resolve())
    packed = find_packed(config, folders)
    if packed is None:
        note(f"no packed rows of this configuration in {folders.base}: packing them")
        packed = _pack(config, input_base, folders, observer)
    elif input_base:
        note(f"--input {input_base} is not read: rows are packed already")
    note(f"profiling on {packed.rows}")
    rows = training_rows(config, packed)
    report = profile(
        rows, config.model, seconds=seconds, compare=compare, tell=observer.started
    )
    return {"pipeline": config.name, "packed": packed.rows, **report.to_json()}


def find_packed(config: PipelineConfig, folders: local_runner.Folders) -> Packed | None:
    """The newest packed rows of a pipeline that its configuration can still read.

    Args:
        config: the configuration.
        folders: where the pipeline lives.

    Returns:
        The rows, or None where there are none.
    """
    if not folders.metadata.exists():
        return None
    history = History(folders.metadata)
    for run_id in reversed(history.run_ids()):
        for node in history.nodes(run_id):
            if node.component == _PACK and node.state == "complete":
                found = Packed(
                    node.outputs["packed"][0], node.inputs["transform_graph"][0]
                )
                if _fits(config, found):
                    return found
    return None


def training_rows(config: PipelineConfig, packed: Packed) -> TrainingRows:
    """What the Trainer would read.

    Args:
        config: the configuration.
        packed: packed rows and their transform.

    Returns:
        The rows of the train split.
    """
    transform = tft.TFTransformOutput(packed.transform)
    return TrainingRows(
        dataset=config.data,
        inputs=inputs_of(config.data, transform),
        # The measured shards are local copies, of other sizes than the manifest says.
        config=config.train.model_copy(update={"staging": StagingConfig(when="never")}),
        train=PackedSplit.of([f"{packed.rows}/Split-train/*"]),
        held_out=PackedSplit(),
    )


def _fits(config: PipelineConfig, packed: Packed) -> bool:
    """Whether rows are still there, and hold what the configuration declares."""
    if not (paths.exists(packed.rows) and paths.exists(packed.transform)):
        return False
    try:
        rows = training_rows(config, packed)
    except ValueError:  # The transform has no vocabulary of that name.
        return False
    layouts = map(read_layout, rows.train.files)
    return next(filter(None, layouts), None) == layout_of(config.data, rows.inputs)


def _pack(
    config: PipelineConfig,
    input_base: str | None,
    folders: local_runner.Folders,
    observer: Observer,
) -> Packed:
    """Runs the DAG up to the packed rows."""
    if input_base:
        check_exists(input_base)
    locations = Locations(
        input_base=input_base
        or config.input
        or simulated(config, folders.base, observer),
        pipeline_root=str(folders.artifacts),
        serving=str(folders.serving),
        metadata=local_runner.sqlite_connection(folders.metadata),
    )
    pipeline = create_pipeline(config, locations, local_runner.LOCAL_BEAM_ARGS)
    compiled = compiler.Compiler().compile(pipeline)
    _cut_after(compiled, _PACK)
    local_runner.MeasuredDagRunner(observer).run_with_ir(compiled)
    packed = find_packed(config, folders)
    assert packed is not None
    return packed


def _cut_after(pipeline: pipeline_pb2.Pipeline, last: str) -> None:
    """Leaves of a compiled pipeline one node and what it needs."""
    needed = {last}
    # Nodes stand in the order of their dependencies.
    for node in reversed(pipeline.nodes):
        if node.pipeline_node.node_info.id in needed:
            needed.update(node.pipeline_node.upstream_nodes)
    for number, node in reversed(list(enumerate(pipeline.nodes))):
        if node.pipeline_node.node_info.id not in needed:
            del pipeline.nodes[number]

"""The DAG, from click log to pushed model. Reads as its own table of contents."""

import json
from dataclasses import dataclass

from tfx.components import Evaluator, StatisticsGen, Trainer, Transform
from tfx.components.schema_gen.import_schema_gen.component import ImportSchemaGen
from tfx.dsl.components.base.base_node import BaseNode
from tfx.dsl.components.common.resolver import Resolver
from tfx.dsl.input_resolution.strategies.latest_blessed_model_strategy import (
    LatestBlessedModelStrategy,
)
from tfx.orchestration.pipeline import Pipeline
from tfx.proto import pusher_pb2, trainer_pb2, transform_pb2
from tfx.types import standard_artifacts
from tfx.types.channel import Channel

from components.data_checks.component import DataChecks
from components.evaluation import eval_config
from components.example_gen.component import ClickLogExampleGen
from components.example_validator import StoppingExampleValidator
from components.model_gate import ModelGate
from components.packing.component import PackExamples
from components.pusher import AtomicPusher
from components.schema_gen import DeclaredSchemaGen
from pipeline.config import PipelineConfig
from pipeline.evaluators import EXTRACTORS, reference_nodes, row_nodes
from pipeline.serving_nodes import serving_nodes

RUN_FN = "components.trainer.run_fn"
PREPROCESSING_FN = "components.preprocessing.preprocessing_fn"


@dataclass(frozen=True, kw_only=True)
class Locations:
    """Where a pipeline reads and writes.

    Attributes:
        input_base: folder or file of the log.
        pipeline_root: folder of all artifacts.
        serving: folder that receives version directories.
        metadata: connection to ML Metadata; None where the cluster has its own.
        checkpoints: folder for the checkpoints of trainings, which outlive a killed
            run; none are written when None.
    """

    input_base: str
    pipeline_root: str
    serving: str
    metadata: object | None = None
    checkpoints: str | None = None


def create_pipeline(
    config: PipelineConfig,
    locations: Locations,
    beam_pipeline_args: list[str],
) -> Pipeline:
    """Builds the pipeline that a configuration declares.

    Args:
        config: the configuration.
        locations: where to read and write.
        beam_pipeline_args: flags of the Beam runner.

    Returns:
        The pipeline, to be run by any runner.
    """
    dataset = config.data.model_dump_json()
    example_gen = ClickLogExampleGen(locations.input_base, config.data)
    examples = example_gen.outputs["examples"]
    statistics_gen = StatisticsGen(examples=examples)
    statistics = statistics_gen.outputs["statistics"]
    schema_gen = _schema_gen(config, statistics, dataset)
    schema = schema_gen.outputs["schema"]
    example_validator = StoppingExampleValidator(statistics=statistics, schema=schema)
    data_checks = _data_checks(config, examples, statistics, schema, dataset)
    transform = Transform(
        examples=examples,
        schema=schema,
        preprocessing_fn=PREPROCESSING_FN,
        custom_config={"dataset": dataset},
        splits_config=transform_pb2.SplitsConfig(analyze=["train"]),
        # Only the graph: PackExamples applies it and writes the rows once.
        materialize=False,
        disable_statistics=True,
    )
    # Anomalies stop the run before anything is learned from the rows.
    transform.add_upstream_node(example_validator)
    for node in data_checks:
        node.add_upstream_node(example_validator)
        transform.add_upstream_node(node)
    pack = PackExamples(
        examples=examples,
        transform_graph=transform.outputs["transform_graph"],
        dataset=dataset,
        # Evaluation reads raw rows through the exported signature, so only the
        # Trainer's rows are needed in transformed form.
        splits=json.dumps(["train", *_validation(config)]),
        compression=config.packing.compression,
    )
    trainer = _trainer(config, pack, transform, dataset, locations.checkpoints)
    model = trainer.outputs["model"]
    baseline = _baseline(config)
    evaluator = Evaluator(
        examples=examples,
        model=model,
        baseline_model=baseline[0].outputs["model"] if baseline else None,
        schema=schema,
        eval_config=eval_config_of(config),
        module_path=EXTRACTORS,
    )
    reference = reference_nodes(config, examples, model, schema)
    rows = row_nodes(config, examples, model, schema)
    gate = ModelGate(
        evaluation=evaluator.outputs["evaluation"],
        model=model,
        gates=config.evaluate.gates.model_dump_json(),
        **({"reference": reference[-1].outputs["evaluation"]} if reference else {}),
    )
    serving = serving_nodes(config, examples, model)
    for node in serving:
        # Also where the gate says no: it costs little, and a reviewer sees both verdicts.
        node.add_upstream_node(gate)
    pusher = AtomicPusher(
        model=model,
        model_blessing=gate.outputs["blessing"],
        infra_blessing=serving[-1].outputs["blessing"] if serving else None,
        push_destination=pusher_pb2.PushDestination(
            filesystem=pusher_pb2.PushDestination.Filesystem(
                base_directory=locations.serving
            )
        ),
    )
    nodes: list[BaseNode] = [
        example_gen,
        statistics_gen,
        schema_gen,
        example_validator,
        *data_checks,
        transform,
        pack,
        trainer,
        *baseline,
        evaluator,
        *reference,
        *rows,
        gate,
        *serving,
        pusher,
    ]
    return Pipeline(
        pipeline_name=config.name,
        pipeline_root=locations.pipeline_root,
        components=nodes,
        metadata_connection_config=locations.metadata,
        beam_pipeline_args=beam_pipeline_args,
        # TFX's cache keys know the import path of our code, not the code: an edited
        # model would be answered with the old one.
        enable_cache=False,
    )


def _baseline(config: PipelineConfig) -> list[BaseNode]:
    """Finds the latest blessed model, unless the configuration wants no baseline."""
    if not config.evaluate.baseline:
        return []
    resolver = Resolver(
        strategy_class=LatestBlessedModelStrategy,
        model=Channel(type=standard_artifacts.Model),
        model_blessing=Channel(type=standard_artifacts.ModelBlessing),
    ).with_id("latest_blessed_model")
    return [resolver]


def _schema_gen(config: PipelineConfig, statistics: Channel, dataset: str) -> BaseNode:
    """The curated schema where one is given, else declared types with inferred domains."""
    if config.schema_file:
        return ImportSchemaGen(schema_file=config.schema_file)
    return DeclaredSchemaGen(statistics=statistics, dataset=dataset)


def _data_checks(
    config: PipelineConfig,
    examples: Channel,
    statistics: Channel,
    schema: Channel,
    dataset: str,
) -> list[BaseNode]:
    """The checks of the rows; none where they are switched off."""
    if not config.data_checks.enabled:
        return []
    checks = DataChecks(
        examples=examples,
        statistics=statistics,
        schema=schema,
        dataset=dataset,
        settings=config.data_checks.model_dump_json(),
    )
    return [checks]


def _trainer(
    config: PipelineConfig,
    pack: BaseNode,
    transform: BaseNode,
    dataset: str,
    checkpoints: str | None,
) -> BaseNode:
    """The Trainer on packed rows."""
    return Trainer(
        run_fn=RUN_FN,
        examples=pack.outputs["packed"],
        transform_graph=transform.outputs["transform_graph"],
        custom_config={
            "dataset": dataset,
            "model": config.model.model_dump_json(),
            "train": config.train.model_dump_json(),
            "user_weight": config.evaluate.user_weight,
            "checkpoints": checkpoints,
        },
        train_args=trainer_pb2.TrainArgs(splits=["train"]),
        # TFX wants a second split; without validation rows the Trainer ignores it.
        eval_args=trainer_pb2.EvalArgs(splits=_validation(config) or ["train"]),
    )


def _validation(config: PipelineConfig) -> list[str]:
    """Name of the split that the Trainer validates on, if there is one."""
    return ["validate"] if config.data.split.has_validation else []


def eval_config_of(config: PipelineConfig) -> object:
    """The TFMA configuration of a pipeline, with the baseline where it has one."""
    keys = config.data.keys
    return eval_config(
        label_key=keys.label_name,
        user_key=keys.user_id,
        weight_key=keys.weight,
        slices=[list(columns) for columns in config.evaluate.slices],
        baseline=config.evaluate.baseline,
        user_weight=config.evaluate.user_weight,
        top_slices=[(one.slice, one.k) for one in config.evaluate.top_slices],
        min_slice_rows=config.evaluate.min_slice_rows,
    )

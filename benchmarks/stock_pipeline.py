"""The same DAG from stock TFX components, with TFX's defaults and no slices."""

from tensorflow_model_analysis.proto import config_pb2
from tfx import v1 as tfx

from pipeline.config import PipelineConfig
from pipeline.pipeline import PREPROCESSING_FN, Locations

RUN_FN = "benchmarks.stock_trainer.run_fn"


def create_stock_pipeline(
    config: PipelineConfig, locations: Locations, beam_pipeline_args: list[str]
) -> tfx.dsl.Pipeline:
    """ImportExampleGen to Pusher.

    Args:
        config: the configuration; its gates and slices are not used.
        locations: ``input_base`` holds Split-train and Split-eval of tf.Example shards.
        beam_pipeline_args: flags of the Beam runner.

    Returns:
        The pipeline.
    """
    custom = {
        "dataset": config.data.model_dump_json(),
        "model": config.model.model_dump_json(),
        "train": config.train.model_dump_json(),
    }
    split = tfx.proto.Input.Split
    example_gen = tfx.components.ImportExampleGen(
        input_base=locations.input_base,
        input_config=tfx.proto.Input(
            splits=[
                split(name="train", pattern="Split-train/*"),
                split(name="eval", pattern="Split-eval/*"),
            ]
        ),
    )
    examples = example_gen.outputs["examples"]
    statistics_gen = tfx.components.StatisticsGen(examples=examples)
    statistics = statistics_gen.outputs["statistics"]
    schema_gen = tfx.components.SchemaGen(statistics=statistics)
    schema = schema_gen.outputs["schema"]
    validator = tfx.components.ExampleValidator(statistics=statistics, schema=schema)
    transform = tfx.components.Transform(
        examples=examples,
        schema=schema,
        preprocessing_fn=PREPROCESSING_FN,
        custom_config={"dataset": custom["dataset"]},
    )
    trainer = tfx.components.Trainer(
        run_fn=RUN_FN,
        examples=transform.outputs["transformed_examples"],
        transform_graph=transform.outputs["transform_graph"],
        custom_config=custom,
        train_args=tfx.proto.TrainArgs(),
        eval_args=tfx.proto.EvalArgs(),
    )
    resolver = tfx.dsl.Resolver(
        strategy_class=tfx.dsl.experimental.LatestBlessedModelStrategy,
        model=tfx.dsl.Channel(type=tfx.types.standard_artifacts.Model),
        model_blessing=tfx.dsl.Channel(type=tfx.types.standard_artifacts.ModelBlessing),
    ).with_id("latest_blessed_model")
    evaluator = tfx.components.Evaluator(
        examples=examples,
        model=trainer.outputs["model"],
        baseline_model=resolver.outputs["model"],
        eval_config=stock_eval_config(config.data.keys.label_name),
    )
    pusher = tfx.components.Pusher(
        model=trainer.outputs["model"],
        model_blessing=evaluator.outputs["blessing"],
        push_destination=tfx.proto.PushDestination(
            filesystem=tfx.proto.PushDestination.Filesystem(
                base_directory=locations.serving
            )
        ),
    )
    return tfx.dsl.Pipeline(
        pipeline_name=f"{config.name}-stock",
        pipeline_root=locations.pipeline_root,
        components=[
            example_gen,
            statistics_gen,
            schema_gen,
            validator,
            transform,
            trainer,
            resolver,
            evaluator,
            pusher,
        ],
        metadata_connection_config=locations.metadata,
        beam_pipeline_args=beam_pipeline_args,
        enable_cache=False,
    )


def stock_eval_config(label_key: str) -> config_pb2.EvalConfig:
    """Pooled AUC and calibration over all rows, with a threshold as the guide has it."""
    threshold = config_pb2.MetricThreshold(
        value_threshold=config_pb2.GenericValueThreshold(lower_bound={"value": 0.5})
    )
    return config_pb2.EvalConfig(
        model_specs=[
            config_pb2.ModelSpec(signature_name="serving_default", label_key=label_key)
        ],
        slicing_specs=[config_pb2.SlicingSpec()],
        metrics_specs=[
            config_pb2.MetricsSpec(
                metrics=[
                    config_pb2.MetricConfig(class_name="ExampleCount"),
                    config_pb2.MetricConfig(class_name="AUC", threshold=threshold),
                    config_pb2.MetricConfig(class_name="Calibration"),
                ]
            )
        ],
    )

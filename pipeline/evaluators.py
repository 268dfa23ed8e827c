"""Evaluators beside the main one: against a pinned model, and with TFMA's metrics."""

from tfx.components import Evaluator
from tfx.dsl.components.base.base_node import BaseNode
from tfx.types.channel import Channel

from components.evaluation import eval_config
from components.reference_model import ReferenceModel
from components.row_evaluation import row_eval_config
from pipeline.config import PipelineConfig

EXTRACTORS = "components.extractors"


def reference_nodes(
    config: PipelineConfig, examples: Channel, model: Channel, schema: Channel
) -> list[BaseNode]:
    """The pinned model and the evaluation of the candidate beside it.

    Args:
        config: the configuration.
        examples: rows to evaluate.
        model: the candidate.
        schema: schema of the rows.

    Returns:
        Nodes in order, the Evaluator last; none without ``evaluate.reference``.
    """
    if config.evaluate.reference is None:
        return []
    reference = ReferenceModel(source=config.evaluate.reference)
    keys = config.data.keys
    evaluator = Evaluator(
        examples=examples,
        model=model,
        baseline_model=reference.outputs["model"],
        schema=schema,
        # Its gates are over all rows only.
        eval_config=eval_config(
            label_key=keys.label_name,
            user_key=keys.user_id,
            weight_key=keys.weight,
            baseline=True,
            user_weight=config.evaluate.user_weight,
        ),
        module_path=EXTRACTORS,
    ).with_id("Evaluator.reference")
    return [reference, evaluator]


def row_nodes(
    config: PipelineConfig, examples: Channel, model: Channel, schema: Channel
) -> list[BaseNode]:
    """An Evaluator with metrics of TFMA's own.

    Args:
        config: the configuration.
        examples: rows to evaluate.
        model: the candidate.
        schema: schema of the rows.

    Returns:
        The Evaluator; none without ``evaluate.tfma_metrics``.

    Raises:
        ConfigError: TFMA has no metric of such a name.
    """
    if not config.evaluate.tfma_metrics:
        return []
    evaluator = Evaluator(
        examples=examples,
        model=model,
        schema=schema,
        eval_config=row_eval_config(
            metrics=config.evaluate.tfma_metrics,
            label_key=config.data.keys.label_name,
            weight_key=config.data.keys.weight,
            slices=config.evaluate.slices,
        ),
    ).with_id("Evaluator.rows")
    return [evaluator]

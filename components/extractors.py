"""Extractors that make TFMA's slices exact and cheap; TFX's Evaluator loads this module.

The last two default stages, which unbatch rows and give each its slice keys, become one
stage that works on columns.
"""

from typing import Any

import tensorflow_model_analysis as tfma

from components.column_stage import SliceSums
from components.extract_settings import read_settings
from data.errors import ConfigError

# Evaluators start behind the stage of this name; any other would be passed over.
STAGE_NAME = "ExtractSliceKeys"
_REPLACED_STAGES = ("ExtractUnbatchedInputs", STAGE_NAME)


def custom_extractors(
    eval_shared_model: Any = None,
    eval_config: Any = None,
    tensor_adapter_config: Any = None,
) -> list[tfma.extractors.Extractor]:
    """Returns the extractors for TFX's Evaluator, which finds this function by name.

    Args:
        eval_shared_model: the model, or candidate and baseline.
        eval_config: a ``tfma.EvalConfig`` from ``components.evaluation``.
        tensor_adapter_config: how features become tensors.

    Returns:
        TFMA's default extractors with the last two replaced.

    Raises:
        ConfigError: the default stages are not those that are known here.
    """
    extractors = tfma.default_extractors(
        eval_shared_model=eval_shared_model,
        eval_config=eval_config,
        tensor_adapter_config=tensor_adapter_config,
    )
    names = tuple(one.stage_name for one in extractors[-2:])
    if names != _REPLACED_STAGES:
        raise ConfigError(
            f"TFMA's last stages are {names}, expected {_REPLACED_STAGES}: this version"
            " of tensorflow-model-analysis is not supported"
        )
    settings = read_settings(eval_config)
    stage = tfma.extractors.Extractor(
        stage_name=STAGE_NAME, ptransform=SliceSums(settings)
    )
    return [*extractors[:-2], stage]

"""Extractors that make TFMA's slices exact and cheap; TFX's Evaluator loads this module.

The last two default stages, which unbatch rows and give each its slice keys, become one
stage that works on columns.
"""

from typing import Any

import pyarrow as pa
import tensorflow_model_analysis as tfma

from components.baseline_columns import check_baseline
from components.column_stage import SliceSums
from components.extract_settings import read_settings
from components.row_batches import batch_by_size
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
        DataError: the baseline reads columns that the rows do not have.
        ConfigError: the default stages are not those that are known here.
    """
    batch_by_size()
    if tensor_adapter_config is not None:
        columns = _columns(tensor_adapter_config.arrow_schema)
        models = tfma.utils.verify_and_update_eval_shared_models(eval_shared_model)
        for model in models or ():
            if model.is_baseline:
                check_baseline(model.model_path, columns)
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


def _columns(schema: pa.Schema) -> dict[str, str]:
    """Kind of each column: bytes, int64 or float."""
    kinds = {pa.int64(): "int64", pa.float32(): "float"}
    return {
        field.name: kinds.get(field.type.value_type, "bytes")
        for field in schema
        if hasattr(field.type, "value_type")
    }

"""The configuration of TFMA's evaluation, and its results read back."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tensorflow_model_analysis as tfma
from tensorflow_model_analysis.proto import config_pb2

from components.metrics.ranking_metrics import (
    DEFAULT_BUCKETS,
    DEFAULT_SCORE_LIMIT,
    RankingMetrics,
)
from components.metrics.results import SliceResult, sort_slices, with_field_errors
from components.metrics.tfma_values import RECORD, read_record

CANDIDATE = "candidate"
BASELINE = "baseline"
SIGNATURE = "serving_default"


def eval_config(
    *,
    label_key: str,
    user_key: str | None = None,
    weight_key: str | None = None,
    slices: Sequence[Sequence[str]] = (),
    baseline: bool = False,
    user_weight: str | None = None,
    signature_name: str = SIGNATURE,
    buckets: int = DEFAULT_BUCKETS,
    score_limit: int = DEFAULT_SCORE_LIMIT,
    top_slices: Sequence[tuple[Sequence[str], int]] = (),
    min_slice_rows: int = 0,
) -> config_pb2.EvalConfig:
    """Builds the configuration of the Evaluator; it goes with ``custom_extractors``.

    It has no thresholds: the gates own the verdict, and TFMA would be a second judge.

    Args:
        label_key: feature with the label.
        user_key: feature with the user id, or None.
        weight_key: feature with the weight, or None.
        slices: features of each slice, crossed; all rows are always a slice.
        baseline: whether a baseline model is evaluated beside the candidate.
        user_weight: weight of a user in GAUC; None for the default.
        signature_name: signature of the model that predicts.
        buckets: number of buckets that users are shuffled into.
        score_limit: most distinct scores a slice holds for the pooled metrics.
        top_slices: features of slices of which only the largest are reported, and how
            many of them.
        min_slice_rows: smaller slices are not reported.

    Returns:
        The configuration.
    """
    settings: dict[str, Any] = {
        "user_key": user_key or "",
        "user_weight": user_weight or "",
        "buckets": buckets,
        "score_limit": score_limit,
        "min_slice_rows": min_slice_rows,
        "top_slices": [[sorted(set(names)), count] for names, count in top_slices],
    }
    models = [
        config_pb2.ModelSpec(
            name=name,
            is_baseline=name == BASELINE,
            signature_name=signature_name,
            label_key=label_key,
            example_weight_key=weight_key or "",
        )
        for name in ([CANDIDATE, BASELINE] if baseline else [""])
    ]
    crosses = [*slices, *(names for names, _ in top_slices)]
    config = config_pb2.EvalConfig(
        model_specs=models,
        slicing_specs=slicing_specs(crosses),
        metrics_specs=[
            config_pb2.MetricsSpec(
                metrics=[
                    config_pb2.MetricConfig(
                        class_name=RankingMetrics.__name__,
                        module=RankingMetrics.__module__,
                        config=json.dumps(settings),
                    )
                ]
            )
        ],
    )
    config.options.include_default_metrics.value = False
    return config


def slicing_specs(slices: Sequence[Sequence[str]]) -> list[config_pb2.SlicingSpec]:
    """Writes slices as TFMA wants them.

    Args:
        slices: features of each slice, crossed, in any order.

    Returns:
        All rows, and each slice once.
    """
    crosses = sorted({tuple(sorted(set(features))) for features in slices} | {()})
    return [config_pb2.SlicingSpec(feature_keys=features) for features in crosses]


def read_results(evaluation_uri: str | Path) -> list[SliceResult]:
    """Reads the results of an evaluation.

    Args:
        evaluation_uri: folder of the ``ModelEvaluation`` artifact.

    Returns:
        One result a slice, all rows first; with baseline and change when a baseline was
        evaluated.
    """
    results: list[SliceResult] = []
    for part in tfma.load_metrics(str(evaluation_uri)):
        key = dict(tfma.slicer.slicer_lib.deserialize_slice_key(part.slice_key))
        for entry in part.metric_keys_and_values:
            if entry.key.name == RECORD and not entry.key.is_diff:
                result = read_record(entry.value.bytes_value)
                # Curves of every slice would make the summary of a run large.
                curves = None if key else result.curves
                results.append(dataclasses.replace(result, slice=key, curves=curves))
    return with_field_errors(sort_slices(results))

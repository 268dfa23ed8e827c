"""Settings of the column extractor, read from the evaluation's configuration."""

import dataclasses
import json
from typing import Any

from components.metrics.names import UserWeight
from components.metrics.ranking_metrics import (
    DEFAULT_BUCKETS,
    DEFAULT_SCORE_LIMIT,
    RankingMetrics,
)
from components.metrics.user_sums import default_user_weight
from components.slices import SliceSpec
from data.errors import ConfigError


@dataclasses.dataclass(frozen=True, slots=True)
class ExtractSettings:
    """What is read from the extracts, and the slices to make.

    Attributes:
        label_key: feature with the label.
        weight_key: feature with the weight, or empty.
        user_key: feature with the user id, or empty.
        candidate: name of the model beside a baseline; empty without one.
        baseline: name of the baseline, or empty for none.
        prediction_key: output that holds the prediction, or empty.
        user_weight: what a user weighs in GAUC.
        buckets: number of user buckets.
        score_limit: most distinct scores a slice holds for the pooled metrics.
        min_slice_rows: smaller slices are not reported.
        specs: slices to make.
    """

    label_key: str
    weight_key: str
    user_key: str
    candidate: str
    baseline: str
    prediction_key: str
    user_weight: UserWeight
    buckets: int
    score_limit: int
    min_slice_rows: int
    specs: tuple[SliceSpec, ...]

    def slice_features(self) -> list[str]:
        """Names of all features of the slices, sorted."""
        return sorted({name for spec in self.specs for name in spec.features})


def read_settings(eval_config: Any) -> ExtractSettings:
    """Reads the stage's settings from the configuration of the evaluation.

    Args:
        eval_config: a ``tfma.EvalConfig`` with the metric ``RankingMetrics``.

    Returns:
        The settings.

    Raises:
        ConfigError: ``RankingMetrics`` is not among the metrics.
    """
    models = list(eval_config.model_specs)
    baseline = next((spec.name for spec in models if spec.is_baseline), "")
    model = next(spec for spec in models if not spec.is_baseline)
    metric = metric_settings(eval_config)
    top = {tuple(sorted(names)): int(k) for names, k in metric.get("top_slices", [])}
    specs = set()
    for spec in eval_config.slicing_specs:
        names = tuple(sorted({*spec.feature_keys, *spec.feature_values}))
        wanted = tuple(sorted(spec.feature_values.items()))
        specs.add(SliceSpec(names, wanted, top.get(names)))
    weighted = bool(model.example_weight_key)
    return ExtractSettings(
        label_key=model.label_key,
        weight_key=model.example_weight_key,
        user_key=metric.get("user_key", ""),
        candidate=model.name if baseline else "",
        baseline=baseline,
        prediction_key=model.prediction_key,
        user_weight=metric.get("user_weight") or default_user_weight(weighted),
        buckets=int(metric.get("buckets", DEFAULT_BUCKETS)),
        score_limit=int(metric.get("score_limit", DEFAULT_SCORE_LIMIT)),
        min_slice_rows=int(metric.get("min_slice_rows", 0)),
        specs=tuple(sorted(specs or {SliceSpec(())}, key=_spec_order)),
    )


def _spec_order(spec: SliceSpec) -> tuple[Any, ...]:
    """A fixed order of slices."""
    return spec.features, spec.wanted


def metric_settings(eval_config: Any) -> dict[str, Any]:
    """Finds the settings of ``RankingMetrics`` in an evaluation's configuration.

    Args:
        eval_config: a ``tfma.EvalConfig``.

    Returns:
        The metric's arguments by name.

    Raises:
        ConfigError: the metric is not there.
    """
    for spec in eval_config.metrics_specs:
        for metric in spec.metrics:
            if metric.class_name == RankingMetrics.__name__:
                settings: dict[str, Any] = json.loads(metric.config or "{}")
                return settings
    raise ConfigError(
        "the evaluation has no metric RankingMetrics; build its configuration with"
        " components.evaluation.eval_config"
    )

"""Settings of the column extractor, read from the evaluation's configuration."""

import dataclasses
import json
from typing import Any

from components.metrics.ranking_metrics import DEFAULT_BUCKETS, RankingMetrics
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
        buckets: number of user buckets.
        specs: slices to make.
    """

    label_key: str
    weight_key: str
    user_key: str
    candidate: str
    baseline: str
    prediction_key: str
    buckets: int
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
    specs = {
        SliceSpec(
            tuple(sorted({*spec.feature_keys, *spec.feature_values})),
            tuple(sorted(spec.feature_values.items())),
        )
        for spec in eval_config.slicing_specs
    } or {SliceSpec(())}
    metric = metric_settings(eval_config)
    return ExtractSettings(
        label_key=model.label_key,
        weight_key=model.example_weight_key,
        user_key=metric.get("user_key", ""),
        candidate=model.name if baseline else "",
        baseline=baseline,
        prediction_key=model.prediction_key,
        buckets=int(metric.get("buckets", DEFAULT_BUCKETS)),
        specs=tuple(sorted(specs, key=lambda spec: (spec.features, spec.wanted))),
    )


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

"""TFMA's own metrics over the same rows and slices; they inform and judge nothing."""

from collections.abc import Sequence

import tensorflow_model_analysis as tfma
from tensorflow_model_analysis.proto import config_pb2

from components.evaluation import SIGNATURE, slicing_specs
from data.errors import ConfigError, suggest


def row_eval_config(
    *,
    metrics: Sequence[str],
    label_key: str,
    weight_key: str | None = None,
    slices: Sequence[Sequence[str]] = (),
) -> config_pb2.EvalConfig:
    """Builds the configuration of an Evaluator with TFMA's default extractors.

    Args:
        metrics: names of classes in ``tfma.metrics``, each with its defaults.
        label_key: feature with the label.
        weight_key: feature with the weight, or None.
        slices: features of each slice, crossed; all rows are always a slice.

    Returns:
        The configuration, without thresholds.

    Raises:
        ConfigError: TFMA has no metric of such a name.
    """
    for name in metrics:
        _check_metric(name)
    config = config_pb2.EvalConfig(
        model_specs=[
            config_pb2.ModelSpec(
                signature_name=SIGNATURE,
                label_key=label_key,
                example_weight_key=weight_key or "",
            )
        ],
        slicing_specs=slicing_specs(slices),
        metrics_specs=[
            config_pb2.MetricsSpec(
                metrics=[config_pb2.MetricConfig(class_name=name) for name in metrics]
            )
        ],
    )
    config.options.include_default_metrics.value = False
    return config


def _check_metric(name: str) -> None:
    """Refuses a name that is no metric of TFMA."""
    known = {
        known
        for known, value in vars(tfma.metrics).items()
        if isinstance(value, type) and issubclass(value, tfma.metrics.Metric)
    }
    if name not in known:
        raise ConfigError(
            f"evaluate.tfma_metrics: tfma.metrics has no metric '{name}'."
            f"{suggest(name, known)}"
        )

"""How far metrics move when nothing but the seed changes: the floor of every gate."""

import dataclasses
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.config import PipelineConfig
from pipeline.observer import Observer

CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Spread of one metric between retrains of one configuration.

    Attributes:
        values: the metric of each retrain.
        mean: their mean.
        deviation: their standard deviation, with n - 1.
        deviation_ci95: 95 % interval of the true standard deviation.
        difference: standard deviation of the difference of two retrains.
        margin: a retrain loses no more than this to another in 95 % of pairs.
    """

    values: tuple[float, ...]
    mean: float
    deviation: float
    deviation_ci95: tuple[float, float]
    difference: float
    margin: float


def noise_of(values: Sequence[float]) -> Noise:
    """Estimates the noise of retraining.

    With s the standard deviation of n retrains, the difference of two further ones,
    over s * sqrt(2), follows Student's t with n - 1 degrees of freedom, and
    (n - 1) * s^2 over the true variance chi-square with as many; both take the metric
    for normal.

    Args:
        values: a metric of two or more retrains.

    Returns:
        The estimates.
    """
    from scipy.special import chdtri, stdtrit  # 0.1 s to import

    freedom = len(values) - 1
    deviation = statistics.stdev(values)
    difference = deviation * math.sqrt(2)
    tail = (1 - CONFIDENCE) / 2
    low, high = (
        deviation * math.sqrt(freedom / float(chdtri(freedom, upper)))
        for upper in (tail, 1 - tail)
    )
    return Noise(
        values=tuple(values),
        mean=statistics.fmean(values),
        deviation=deviation,
        deviation_ci95=(low, high),
        difference=difference,
        margin=float(stdtrit(freedom, CONFIDENCE)) * difference,
    )


def retrain(
    config: PipelineConfig,
    input_base: str | None,
    root: Path,
    retrains: int,
    observer: Observer,
) -> list[dict[str, Any]]:
    """Trains and evaluates a configuration several times, each with another seed.

    Args:
        config: the configuration; seeds count up from its ``train.seed``.
        input_base: folder or file of the log; by the configuration when None.
        root: folder of all pipelines; run number ``seed`` lies in ``noise/<seed>``.
        retrains: how many runs.
        observer: hears of each component.

    Returns:
        The summaries.
    """
    from pipeline.run import run

    summaries = []
    for seed in range(config.train.seed, config.train.seed + retrains):
        train = config.train.model_copy(update={"seed": seed})
        reseeded = config.model_copy(update={"train": train})
        summaries.append(
            run(reseeded, input_base, root / "noise" / str(seed), observer)
        )
    return summaries


def noise_by_metric(summaries: Sequence[dict[str, Any]]) -> dict[str, Noise]:
    """Noise of each metric over all rows.

    Args:
        summaries: of the retrains.

    Returns:
        Metrics that have a value in every retrain.
    """
    overall = [summary["slices"][0]["metrics"] for summary in summaries]
    values = {name: [one[name]["value"] for one in overall] for name in overall[0]}
    return {name: noise_of(them) for name, them in values.items() if None not in them}

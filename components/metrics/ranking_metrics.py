"""All click metrics as one TFMA metric over extracts that hold columns."""

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import tensorflow_model_analysis as tfma
from tensorflow_model_analysis.metrics import metric_types

from components.metrics.accumulator import SliceAccumulator
from components.metrics.columns import Columns, PredictionsError
from components.metrics.flat_results import flatten, flatten_baseline
from components.metrics.names import UserWeight
from components.metrics.user_sums import default_user_weight

COLUMNS_KEY = "click_columns"

# Buckets of users a slice is cut into. Each is held in memory whole: 64 keep two
# million rows at 30,000 a bucket, and few rows pay little for empty buckets.
DEFAULT_BUCKETS = 64
# Distinct scores a slice may hold (6 MB) before pooled metrics are rounded.
DEFAULT_SCORE_LIMIT = 1 << 18


class RankingMetrics(tfma.metrics.Metric):
    """GAUC, PCOP, AUC, PR-AUC, log loss, normalised entropy, ECE and counts.

    GAUC = sum_u m_u AUC_u / sum_u m_u over users with a click and a non-click; PCOP =
    sum w p / sum w y. A metric is NaN where it is undefined (no such user, no clicks).
    It reads what the extractors of ``components.extractors`` write, and no other input.
    """

    def __init__(
        self,
        name: str = "ranking_metrics",
        user_key: str = "",
        user_weight: str = "",
        buckets: int = DEFAULT_BUCKETS,
        score_limit: int = DEFAULT_SCORE_LIMIT,
    ) -> None:
        """Makes the metric; TFMA calls it with what ``get_config`` returned.

        Args:
            name: name of the metric; the results carry their own names.
            user_key: feature that holds the user id, or empty for none.
            user_weight: weight of a user in GAUC, or empty for the default.
            buckets: number of user buckets of the extractor.
            score_limit: most distinct scores a slice holds for the pooled metrics.
        """
        # Every argument is forwarded: TFMA serialises what it is given here, only.
        super().__init__(
            _computations,
            name=name,
            user_key=user_key,
            user_weight=user_weight,
            buckets=buckets,
            score_limit=score_limit,
        )


def _computations(
    name: str = "",
    user_key: str = "",
    user_weight: str = "",
    buckets: int = DEFAULT_BUCKETS,
    score_limit: int = DEFAULT_SCORE_LIMIT,
    eval_config: tfma.EvalConfig | None = None,
    model_names: list[str] | None = None,
    example_weighted: bool | None = None,
) -> list[metric_types.MetricComputation]:
    """Builds the one computation for all models.

    TFMA looks at the argument names: without ``example_weighted`` it would refuse a
    weight key, though weights come with the columns.
    """
    del name, buckets, example_weighted
    specs = list(eval_config.model_specs) if eval_config else []
    weighted = any(spec.example_weight_key for spec in specs)
    weight: UserWeight = user_weight or default_user_weight(weighted)  # type: ignore[assignment]
    baseline = next((spec.name for spec in specs if spec.is_baseline), "")
    candidate = next((one for one in model_names or [""] if one != baseline), "")
    combiner = _SliceCombineFn(weight, score_limit, bool(user_key), candidate, baseline)
    return [
        metric_types.MetricComputation(
            keys=[_key("gauc", candidate)],
            preprocessors=[_ColumnsPreprocessor()],
            combiner=combiner,
        )
    ]


def _key(name: str, model_name: str) -> metric_types.MetricKey:
    """Key of one number in TFMA's result."""
    return metric_types.MetricKey(name=name, model_name=model_name)


class _ColumnsPreprocessor(metric_types.Preprocessor):
    """Passes the columns of an extract on."""

    def __init__(self) -> None:
        """Names the preprocessor, by which TFMA tells equal computations."""
        super().__init__(name=COLUMNS_KEY)

    def process(self, extracts: dict[str, Any]) -> Iterator[Columns]:
        """Yields the columns of one slice and user bucket."""
        yield extracts[COLUMNS_KEY]


class _SliceCombineFn(beam.CombineFn):
    """Combines the columns of a slice's user buckets."""

    def __init__(
        self,
        user_weight: UserWeight,
        score_limit: int,
        user_declared: bool,
        candidate: str,
        baseline: str,
    ) -> None:
        """Keeps the settings of the accumulator and the model names of the result."""
        self._user_weight = user_weight
        self._score_limit = score_limit
        self._user_declared = user_declared
        self._candidate = candidate
        self._baseline = baseline

    def create_accumulator(self) -> SliceAccumulator:
        """Makes an empty accumulator."""
        return SliceAccumulator(self._user_weight, self._score_limit)

    def add_input(
        self, accumulator: SliceAccumulator, columns: Columns
    ) -> SliceAccumulator:
        """Adds the rows of one user bucket.

        Raises:
            PredictionsError: a rule was broken; without the columns, which TFMA would
                print and which hold user ids.
        """
        try:
            accumulator.add(columns)
        except Exception as error:
            raise PredictionsError(
                f"metrics of {len(columns)} rows failed: {type(error).__name__}"
            ) from None
        return accumulator

    def merge_accumulators(
        self, accumulators: Iterable[SliceAccumulator]
    ) -> SliceAccumulator:
        """Adds accumulators up."""
        total = self.create_accumulator()
        for accumulator in accumulators:
            total.merge(accumulator)
        return total

    def compact(self, accumulator: SliceAccumulator) -> SliceAccumulator:
        """Shrinks the state before Beam sends it on."""
        accumulator.compact()
        return accumulator

    def extract_output(
        self, accumulator: SliceAccumulator
    ) -> dict[metric_types.MetricKey, float]:
        """Computes the numbers of all models."""
        declared = self._user_declared
        result = accumulator.result((), declared)
        output = {
            _key(name, self._candidate): value
            for name, value in flatten(result, declared).items()
        }
        if result.baseline is not None:
            output |= {
                _key(name, self._baseline): value
                for name, value in flatten_baseline(result, declared).items()
            }
        return output

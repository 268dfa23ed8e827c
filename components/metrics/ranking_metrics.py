"""All click metrics as one TFMA metric over extracts that hold sums."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import tensorflow_model_analysis as tfma
from tensorflow_model_analysis.metrics import metric_types
from tensorflow_model_analysis.proto import config_pb2

from components.metrics.slice_metrics import SliceErrors, slice_result
from components.metrics.slice_totals import SliceValues
from components.metrics.tfma_values import tfma_values

SUMS_KEY = "click_sums"

# Buckets that users are dealt to. Each is held in memory whole: 64 keep two million rows
# at 30,000 a bucket, and few rows pay little for empty buckets.
DEFAULT_BUCKETS = 64
# Distinct scores a slice may hold (3 MB) before pooled metrics are rounded.
DEFAULT_SCORE_LIMIT = 1 << 17


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
        min_slice_rows: int = 0,
        top_slices: Sequence[tuple[Sequence[str], int]] = (),
    ) -> None:
        """Makes the metric; TFMA calls it with what ``get_config`` returned.

        Args:
            name: name of the metric; the results carry their own names.
            user_key: feature that holds the user id, or empty for none.
            user_weight: weight of a user in GAUC, or empty for the default.
            buckets: number of user buckets of the extractor.
            score_limit: most distinct scores a slice holds for the pooled metrics.
            min_slice_rows: smaller slices are not reported.
            top_slices: features of slices of which only the largest are reported, and
                how many.
        """
        # Every argument is forwarded: TFMA serialises what it is given here, only.
        super().__init__(
            _computations,
            name=name,
            user_key=user_key,
            user_weight=user_weight,
            buckets=buckets,
            score_limit=score_limit,
            min_slice_rows=min_slice_rows,
            top_slices=top_slices,
        )


def _computations(
    user_key: str = "",
    eval_config: config_pb2.EvalConfig | None = None,
    model_names: list[str] | None = None,
    example_weighted: bool | None = None,
    **settings_of_the_extractor: Any,
) -> list[metric_types.MetricComputation]:
    """Builds the one computation for all models.

    TFMA looks at the argument names: without ``example_weighted`` it would refuse a
    weight key, though weights come with the sums.
    """
    del example_weighted, settings_of_the_extractor
    specs = list(eval_config.model_specs) if eval_config else []
    baseline = next((spec.name for spec in specs if spec.is_baseline), "")
    candidate = next((one for one in model_names or [""] if one != baseline), "")
    return [
        metric_types.MetricComputation(
            keys=[metric_types.MetricKey(name="gauc", model_name=candidate)],
            preprocessors=[_SumsPreprocessor()],
            combiner=_SliceCombineFn(bool(user_key), candidate, baseline),
        )
    ]


class _SumsPreprocessor(metric_types.Preprocessor):
    """Passes the sums of an extract on."""

    def __init__(self) -> None:
        """Names the preprocessor, by which TFMA tells equal computations."""
        super().__init__(name=SUMS_KEY)

    def process(self, extracts: dict[str, Any]) -> Iterator[SliceValues | SliceErrors]:
        """Yields the values of a slice, or the errors of one of its buckets."""
        yield extracts[SUMS_KEY]


_Sums = tuple[SliceValues | None, SliceErrors]


class _SliceCombineFn(beam.CombineFn):
    """Puts the values of a slice and the errors of its user buckets together."""

    def __init__(self, user_declared: bool, candidate: str, baseline: str) -> None:
        """Keeps the names of the models in the result."""
        self._user_declared = user_declared
        self._candidate = candidate
        self._baseline = baseline

    def create_accumulator(self) -> _Sums:
        """Makes empty sums."""
        return None, SliceErrors()

    def add_input(self, sums: _Sums, part: SliceValues | SliceErrors) -> _Sums:
        """Adds the slice's values, of which there is one, or errors."""
        values, errors = sums
        if isinstance(part, SliceValues):
            return part, errors
        errors.merge(part)
        return values, errors

    def merge_accumulators(self, parts: Iterable[_Sums]) -> _Sums:
        """Adds sums up."""
        found, total = self.create_accumulator()
        for values, errors in parts:
            found = values or found
            total.merge(errors)
        return found, total

    def extract_output(self, sums: _Sums) -> dict[Any, Any]:
        """Computes the numbers of all models."""
        values, errors = sums
        if values is None:
            return {}
        result = slice_result(values, errors, (), self._user_declared)
        return tfma_values(result, self._candidate, self._baseline)

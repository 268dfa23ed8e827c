"""Metrics of a whole table in memory: what ``ctr evaluate`` computes."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from components.metrics.accumulator import SliceAccumulator
from components.metrics.columns import Columns
from components.metrics.names import UserWeight
from components.metrics.results import SliceKey, SliceResult, sort_slices
from components.slices import SliceFeature, SliceSpec, slice_groups


def evaluate_table(
    columns: Columns,
    features: Mapping[str, SliceFeature],
    specs: Iterable[SliceSpec],
    user_weight: UserWeight,
    user_declared: bool = True,
) -> list[SliceResult]:
    """Computes all metrics of all slices.

    Args:
        columns: checked rows.
        features: slice features over the same rows.
        specs: slices to make beside the one of all rows.
        user_weight: what a user weighs in GAUC.
        user_declared: whether the data names a user id column.

    Returns:
        One result a slice, all rows first.
    """
    groups: dict[SliceKey, NDArray[np.int64]] = {(): np.arange(len(columns))}
    for spec in {SliceSpec(tuple(sorted(one.features)), one.wanted) for one in specs}:
        groups |= dict(slice_groups(features, spec, len(columns)))
    results = []
    for key, index in groups.items():
        accumulator = SliceAccumulator(user_weight)
        accumulator.add(columns.take(index) if key else columns)
        results.append(accumulator.result(key, user_declared))
    return sort_slices(results)

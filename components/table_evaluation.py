"""Metrics of a whole table in memory: what ``ctr evaluate`` computes."""

import heapq
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from components.metrics.columns import Columns
from components.metrics.names import UserWeight
from components.metrics.results import (
    SliceKey,
    SliceResult,
    sort_slices,
    with_field_errors,
)
from components.metrics.slice_metrics import evaluate_rows
from components.slices import (
    SliceFeature,
    SliceSpec,
    by_size,
    slice_groups,
)


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
        specs: slices to make beside the one of all rows; features sorted.
        user_weight: what a user weighs in GAUC.
        user_declared: whether the data names a user id column.

    Returns:
        One result a slice, all rows first.
    """
    groups: dict[SliceKey, NDArray[np.int64] | None] = {(): None}
    for spec in specs:
        found = slice_groups(features, spec, len(columns))
        if spec.top is None:
            groups.update(found)
        else:
            # One by one: of millions of values only the few largest are held.
            largest = heapq.nsmallest(spec.top, found, _by_size)
            groups.update(largest)
    results = [
        evaluate_rows(
            columns if index is None else columns.take(index),
            user_weight,
            key,
            user_declared,
        )
        for key, index in groups.items()
    ]
    return with_field_errors(sort_slices(results))


def _by_size(group: tuple[SliceKey, NDArray[np.int64]]) -> tuple[int, str]:
    """Sort key of a slice with its rows."""
    key, rows = group
    return by_size(key, len(rows))

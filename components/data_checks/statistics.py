"""What StatisticsGen knows of the columns beforehand."""

from collections.abc import Iterable, Sequence

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2

from components.data_checks.codes import category_codes
from data import paths

_FILE = "FeatureStats.pb"
# A value that many rows share says nothing of one person; an address or the id of a
# device would.
MAX_NAMED = 1000
MIN_ROWS_EACH = 100


def read_statistics(
    folder: str, splits: Iterable[str]
) -> list[statistics_pb2.FeatureNameStatistics]:
    """Statistics of the columns of some splits.

    Args:
        folder: the ``ExampleStatistics`` artifact.
        splits: their names.

    Returns:
        One entry a split and column.
    """
    found = []
    for split in splits:
        parsed = statistics_pb2.DatasetFeatureStatisticsList()
        with paths.open_read(f"{folder.rstrip('/')}/Split-{split}/{_FILE}") as file:
            parsed.ParseFromString(file.read())
        found += list(parsed.datasets[0].features)
    return found


def medians(
    features: Iterable[statistics_pb2.FeatureNameStatistics],
) -> dict[str, float]:
    """Median of each number column; of the first split that has it."""
    found: dict[str, float] = {}
    for feature in features:
        if feature.HasField("num_stats"):
            found.setdefault(feature.path.step[0], feature.num_stats.median)
    return found


def frequent_texts(
    features: Sequence[statistics_pb2.FeatureNameStatistics],
) -> dict[str, dict[int, str]]:
    """The most frequent texts of each column of few values, by their code.

    Args:
        features: of each split and column.

    Returns:
        By column name, texts by code. A column is left out where some split has more
        than ``MAX_NAMED`` different values of it, or fewer than ``MIN_ROWS_EACH`` rows
        for each on average.
    """
    found: dict[str, dict[int, str]] = {}
    hidden = {one.path.step[0] for one in features if not _is_shared(one.string_stats)}
    for feature in features:
        name = feature.path.step[0]
        if name in hidden:
            continue
        values = [one.value for one in feature.string_stats.top_values]
        codes = category_codes(pa.array([one.encode() for one in values], pa.binary()))
        known = found.setdefault(name, {})
        for code, value in zip(codes.tolist(), values, strict=True):
            known.setdefault(code, value)
    return found


def _is_shared(stats: statistics_pb2.StringStatistics) -> bool:
    """Whether many rows share each value of a column."""
    rows = stats.common_stats.num_non_missing
    return stats.unique <= min(MAX_NAMED, rows // MIN_ROWS_EACH)


def columns_with_domain(schema: schema_pb2.Schema) -> frozenset[str]:
    """Columns whose values the schema lists."""
    kinds = ("domain", "string_domain", "int_domain")
    return frozenset(
        feature.name
        for feature in schema.feature
        if feature.WhichOneof("domain_info") in kinds
    )

"""What StatisticsGen knows of the columns beforehand."""

from collections.abc import Iterable

import pyarrow as pa
from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2

from components.data_checks.codes import category_codes
from data import paths

_FILE = "FeatureStats.pb"


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
    features: Iterable[statistics_pb2.FeatureNameStatistics],
) -> dict[str, dict[int, str]]:
    """The most frequent texts of each column, by their code."""
    found: dict[str, dict[int, str]] = {}
    for feature in features:
        values = [one.value for one in feature.string_stats.top_values]
        codes = category_codes(pa.array([one.encode() for one in values], pa.binary()))
        known = found.setdefault(feature.path.step[0], {})
        for code, value in zip(codes.tolist(), values, strict=True):
            known.setdefault(code, value)
    return found


def columns_with_domain(schema: schema_pb2.Schema) -> frozenset[str]:
    """Columns whose values the schema lists."""
    kinds = ("domain", "string_domain", "int_domain")
    return frozenset(
        feature.name
        for feature in schema.feature
        if feature.WhichOneof("domain_info") in kinds
    )

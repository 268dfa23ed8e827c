"""Statistics and anomalies of a run's data, as plain values."""

from pathlib import Path
from typing import Any

from tensorflow_metadata.proto.v0 import anomalies_pb2, statistics_pb2

# TFX's names; the modules that hold them import all of TFX, which takes many seconds.
STATISTICS_FILE = "FeatureStats.pb"
ANOMALIES_FILE = "SchemaDiff.pb"
TOP_VALUES = 5


def read_statistics(folder: str, hidden: frozenset[str]) -> list[dict[str, Any]]:
    """Reads what StatisticsGen wrote.

    Args:
        folder: the ``ExampleStatistics`` artifact.
        hidden: columns of ids, of which no value may be shown.

    Returns:
        One entry a split: ``split``, ``rows`` and ``features``.
    """
    splits = []
    for path in sorted(Path(folder).glob(f"Split-*/{STATISTICS_FILE}")):
        found = statistics_pb2.DatasetFeatureStatisticsList()
        found.ParseFromString(path.read_bytes())
        dataset = found.datasets[0]
        splits.append(
            {
                "split": _split(path),
                "rows": dataset.num_examples,
                "features": [_feature(one, hidden) for one in dataset.features],
            }
        )
    # Training rows first: the model was made from them.
    return sorted(splits, key=lambda split: str(split["split"]) != "train")


def read_anomalies(folder: str, hidden: frozenset[str]) -> list[dict[str, str]]:
    """Reads what the ExampleValidator wrote.

    Args:
        folder: the ``ExampleAnomalies`` artifact.
        hidden: columns of ids; the long text of their anomalies may quote values.

    Returns:
        ``split``, ``column`` and ``description`` of each anomaly.
    """
    rows = []
    for path in sorted(Path(folder).glob(f"Split-*/{ANOMALIES_FILE}")):
        found = anomalies_pb2.Anomalies()
        found.ParseFromString(path.read_bytes())
        for name, info in sorted(found.anomaly_info.items()):
            text = info.short_description if name in hidden else info.description
            rows.append({"split": _split(path), "column": name, "description": text})
    return rows


def _split(path: Path) -> str:
    """Name of the split whose folder holds a file."""
    return path.parent.name.removeprefix("Split-")


def _feature(
    feature: statistics_pb2.FeatureNameStatistics, hidden: frozenset[str]
) -> dict[str, Any]:
    """Statistics of one column; those of ids hold no value."""
    name = ".".join(feature.path.step) or feature.name
    kind = feature.WhichOneof("stats")
    stats = getattr(feature, kind)
    common = stats.common_stats
    rows = common.num_non_missing + common.num_missing
    content: dict[str, Any] = {
        "name": name,
        "type": feature.Type.Name(feature.type).lower(),
        "present": common.num_non_missing / rows if rows else 0.0,
        "values_per_row": common.avg_num_values,
        "hidden": name in hidden,
    }
    if kind == "string_stats":
        content["unique"] = stats.unique
        top = stats.top_values[:TOP_VALUES]
        content["top"] = [[value.value, value.frequency] for value in top]
    elif kind == "num_stats":
        zeros = stats.num_zeros / max(common.tot_num_values, 1)
        content |= {"mean": stats.mean, "deviation": stats.std_dev, "zeros": zeros}
        content |= {"min": stats.min, "median": stats.median, "max": stats.max}
    if name in hidden:
        for key in ("top", "mean", "deviation", "zeros", "min", "median", "max"):
            content.pop(key, None)
    return content

"""Anomalies stop the run and are named by split and column."""

from pathlib import Path
from typing import Any

import pytest

from data.errors import DataError

pytestmark = pytest.mark.engine

SCHEMA = """
feature {
  name: "click" type: INT
  presence { min_fraction: 1.0 min_count: 1 }
}
"""
# Ten rows; the label is there in this many of them.
STATISTICS = """
datasets {
  name: "%(split)s" num_examples: 10
  features {
    path { step: "click" } type: INT
    num_stats {
      common_stats {
        num_non_missing: %(present)d num_missing: %(missing)d
        min_num_values: 1 max_num_values: 1 avg_num_values: 1
      }
    }
  }
}
"""


def validate(folder: Path, present: dict[str, int]) -> Any:
    """Runs the executor over statistics of some splits."""
    import tensorflow_data_validation as tfdv
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2
    from tfx.types import artifact_utils, standard_artifacts

    from components.example_validator import Executor

    statistics = standard_artifacts.ExampleStatistics()
    statistics.uri = str(folder / "statistics")
    statistics.split_names = artifact_utils.encode_split_names(sorted(present))
    for split, rows in present.items():
        target = folder / "statistics" / f"Split-{split}"
        target.mkdir(parents=True)
        text = STATISTICS % {"split": split, "present": rows, "missing": 10 - rows}
        parsed = text_format.Parse(text, statistics_pb2.DatasetFeatureStatisticsList())
        (target / "FeatureStats.pb").write_bytes(parsed.SerializeToString())
    schema = standard_artifacts.Schema()
    schema.uri = str(folder / "schema")
    (folder / "schema").mkdir()
    tfdv.write_schema_text(
        text_format.Parse(SCHEMA, schema_pb2.Schema()),
        str(folder / "schema" / "schema.pbtxt"),
    )
    anomalies = standard_artifacts.ExampleAnomalies()
    anomalies.uri = str(folder / "anomalies")
    return Executor().Do(
        {"statistics": [statistics], "schema": [schema]}, {"anomalies": [anomalies]}, {}
    )


def test_rows_that_fit_the_schema_pass(tmp_path: Path) -> None:
    validate(tmp_path, {"train": 10, "eval": 10})


def test_anomaly_names_split_column_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        validate(tmp_path, {"train": 10, "eval": 4})
    message = str(caught.value)
    assert "split 'eval', column 'click'" in message
    assert "split 'train'" not in message
    assert "schema: FILE" in message
    assert len(message.splitlines()) == 1


def test_anomalies_stay_on_disk_for_a_look(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        validate(tmp_path, {"train": 4, "eval": 10})
    assert (tmp_path / "anomalies" / "Split-train" / "SchemaDiff.pb").exists()

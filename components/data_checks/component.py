"""The component before Transform: stops the run where the rows break a rule."""

import json

from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2
from tfx.dsl.component.experimental.annotations import (
    InputArtifact,
    OutputArtifact,
    Parameter,
)
from tfx.dsl.component.experimental.decorators import component
from tfx.types.standard_artifacts import (
    ExampleAnomalies,
    Examples,
    ExampleStatistics,
    Schema,
)

from components.data_checks.check import check_data
from components.data_checks.config import DataChecksConfig
from data import paths
from data.dataset import Dataset
from data.errors import DataError

DATA_CHECKS_FILE = "data_checks.json"
# TFX's name; the module that writes it imports all of TFDV, which takes seconds.
_SCHEMA_FILE = "schema.pbtxt"


@component
def DataChecks(
    examples: InputArtifact[Examples],
    statistics: InputArtifact[ExampleStatistics],
    schema: InputArtifact[Schema],
    checks: OutputArtifact[ExampleAnomalies],
    dataset: Parameter[str],
    settings: Parameter[str],
) -> None:
    """Looks for shifts, leaks and equal rows.

    Args:
        examples: verified shards with their manifest.
        statistics: of the same rows.
        schema: of the same rows.
        checks: receives ``data_checks.json``.
        dataset: JSON of ``data.dataset.Dataset``.
        settings: JSON of ``components.data_checks.config.DataChecksConfig``.

    Raises:
        DataError: a rule of level ``fail`` is broken.
    """
    with paths.open_read(f"{schema.uri}/{_SCHEMA_FILE}") as file:
        declared = text_format.Parse(file.read().decode(), schema_pb2.Schema())
    result = check_data(
        examples.uri,
        statistics.uri,
        declared,
        Dataset.model_validate_json(dataset),
        DataChecksConfig.model_validate_json(settings),
    )
    with paths.open_write(f"{checks.uri}/{DATA_CHECKS_FILE}") as file:
        file.write(json.dumps(result.to_json(), indent=1, allow_nan=False).encode())
    if not result.passed:
        raise DataError(result.refusal)

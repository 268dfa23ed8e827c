"""ExampleValidator that stops the run when a split breaks the schema."""

import os
from typing import Any

from tensorflow_metadata.proto.v0 import anomalies_pb2
from tfx.components.example_validator import component, executor
from tfx.dsl.components.base import executor_spec
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from data.errors import DataError

ANOMALIES_FILE = "SchemaDiff.pb"


class Executor(executor.Executor):
    """Writes the anomalies as TFX does, then raises if there are any."""

    def Do(
        self,
        input_dict: dict[str, list[Any]],
        output_dict: dict[str, list[Any]],
        exec_properties: dict[str, Any],
    ) -> Any:
        """Validates the statistics of every split.

        Args:
            input_dict: ``statistics`` and ``schema``.
            output_dict: ``anomalies``.
            exec_properties: those of the stock component.

        Returns:
            What the stock executor returns.

        Raises:
            DataError: one line for each anomalous column, with split and reason.
        """
        result = super().Do(input_dict, output_dict, exec_properties)
        anomalies = artifact_utils.get_single_instance(output_dict["anomalies"])
        lines = []
        for split in artifact_utils.decode_split_names(anomalies.split_names):
            path = os.path.join(anomalies.uri, f"Split-{split}", ANOMALIES_FILE)
            found = anomalies_pb2.Anomalies()
            with fileio.open(path, "rb") as file:
                found.ParseFromString(file.read())
            lines += [
                f"split '{split}', column '{name}': {info.description}"
                for name, info in sorted(found.anomaly_info.items())
            ]
        if lines:
            raise DataError(
                "data break the schema: "
                + "; ".join(lines)
                + ". Mend the input, or curate the schema and name it in the "
                "configuration (schema: FILE)."
            )
        return result


class StoppingExampleValidator(component.ExampleValidator):
    """The stock component with the executor above."""

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

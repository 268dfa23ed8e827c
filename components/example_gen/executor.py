"""The executor of ``ClickLogExampleGen``: runs the ingest on TFX's Beam pipeline."""

import posixpath
from typing import Any

from google.protobuf import json_format, struct_pb2
from tfx import types
from tfx.components.util import examples_utils
from tfx.dsl.components.base.base_beam_executor import BaseBeamExecutor
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils, standard_component_specs
from tfx.utils import proto_utils

from components.beam_runner import works_here
from components.example_gen.run import ingest
from data.dataset import Dataset

_FILE_FORMAT = "tfrecords_gzip"


class ClickLogExecutor(BaseBeamExecutor):
    """Turns the log's files into an ``Examples`` artifact."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Reads, converts, splits and writes.

        Args:
            input_dict: empty.
            output_dict: the ``examples`` artifact.
            exec_properties: input folder and patterns with their span filled in by the
                driver, and the declaration.

        Raises:
            DataError: the log breaks a rule of the data contract.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        examples = artifact_utils.get_single_instance(
            output_dict[standard_component_specs.EXAMPLES_KEY]
        )
        settings = _settings(exec_properties)
        dataset = Dataset.model_validate_json(settings["dataset"])
        pipeline = self._make_beam_pipeline()
        ingest(
            _inputs(exec_properties, whole_folder=bool(settings["folder"])),
            dataset,
            examples.uri,
            name=str(settings["name"]),
            pipeline=None if works_here(pipeline) else pipeline,
        )
        examples.split_names = artifact_utils.encode_split_names(
            list(dataset.split_names)
        )
        examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
        examples_utils.set_file_format(examples, _FILE_FORMAT)


def _settings(exec_properties: dict[str, Any]) -> struct_pb2.Struct:
    """What the component packed into ``custom_config``."""
    packed = example_gen_pb2.CustomConfig()
    proto_utils.json_to_proto(
        exec_properties[standard_component_specs.CUSTOM_CONFIG_KEY], packed
    )
    settings = struct_pb2.Struct()
    packed.custom_config.Unpack(settings)
    return settings


def _inputs(exec_properties: dict[str, Any], whole_folder: bool) -> list[str]:
    """The log's folder, file or pattern."""
    base = exec_properties[standard_component_specs.INPUT_BASE_KEY]
    if whole_folder:
        return [base]
    config = example_gen_pb2.Input()
    json_format.Parse(
        exec_properties[standard_component_specs.INPUT_CONFIG_KEY], config
    )
    return [posixpath.join(base, split.pattern) for split in config.splits]

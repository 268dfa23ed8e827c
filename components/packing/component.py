"""The component between Transform and Trainer: rows to packed shards."""

import json

import apache_beam as beam
import tensorflow_transform as tft
from tfx.components.util import examples_utils
from tfx.dsl.component.experimental.annotations import (
    BeamComponentParameter,
    InputArtifact,
    OutputArtifact,
    Parameter,
)
from tfx.dsl.component.experimental.decorators import component
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils
from tfx.types.standard_artifacts import Examples, TransformGraph

from components.beam_runner import works_here
from components.model_inputs import inputs_of
from components.packing.layout import layout_of
from components.packing.pack import pack
from components.packing.shard import PackJob
from data.dataset import Dataset
from data.packed import VERSION

# Custom property of the artifact: version of the packed format.
PACKED_VERSION = "packed_version"
# TFX knows the first name; the second follows its pattern.
FILE_FORMATS = {"gzip": "tfrecords_gzip", "none": "tfrecords"}


@component(use_beam=True)
def PackExamples(
    examples: InputArtifact[Examples],
    transform_graph: InputArtifact[TransformGraph],
    packed: OutputArtifact[Examples],
    dataset: Parameter[str],
    splits: Parameter[str],
    compression: Parameter[str],
    beam_pipeline: BeamComponentParameter[beam.Pipeline] = None,
) -> None:
    """Applies the saved transform to splits and writes them once, packed.

    Args:
        examples: verified shards of rows with their manifest.
        transform_graph: the saved transform.
        packed: receives the packed shards and their manifest.
        dataset: JSON of ``data.dataset.Dataset``.
        splits: JSON list of the splits to pack.
        compression: as in ``components.packing.config.PackingConfig``.
        beam_pipeline: the pipeline that TFX makes; used where its runner has workers
            beyond this machine.
    """
    declared = Dataset.model_validate_json(dataset)
    transform = tft.TFTransformOutput(transform_graph.uri)
    names = json.loads(splits)
    job = PackJob(
        source=examples.uri,
        transform=transform_graph.uri,
        target=packed.uri,
        layout=layout_of(declared, inputs_of(declared, transform)),
        compress=compression == "gzip",
    )
    pack(job, names, None if works_here(beam_pipeline) else beam_pipeline)
    packed.split_names = artifact_utils.encode_split_names(names)
    # TFX must not take a block for a row: records of this format are opaque to it.
    examples_utils.set_payload_format(packed, example_gen_pb2.FORMAT_PROTO)
    examples_utils.set_file_format(packed, FILE_FORMATS[compression])
    packed.set_int_custom_property(PACKED_VERSION, VERSION)

"""The first component of the DAG: click logs to an Examples artifact."""

import os
import posixpath

from google.protobuf import struct_pb2
from tfx.components.example_gen.component import FileBasedExampleGen
from tfx.dsl.components.base import executor_spec
from tfx.proto import example_gen_pb2

from components.example_gen.executor import ClickLogExecutor
from data.dataset import Dataset

# What makes a path a pattern: wildcards, and TFX's {SPAN}, {YYYY} and the like.
_PATTERN_MARKS = "*?[{"
# How deep the driver looks for changed files below an input folder.
_DEPTH = 4


class ClickLogExampleGen(FileBasedExampleGen):
    """Reads a click log as a data set declares it, and writes verified shards.

    TFX's own driver takes the fingerprint of the input files and resolves spans, so an
    unchanged log is not read twice. The output is a standard ``Examples`` artifact of
    GZIP TFRecord shards of tf.Example, ``manifest.json`` beside the split folders.
    """

    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(ClickLogExecutor)

    def __init__(self, input_base: str, dataset: Dataset, *, name: str = "") -> None:
        """Declares where the log is and what it means.

        Args:
            input_base: a folder (searched with all below it), a file, or a pattern; a
                pattern may hold TFX's span, as in ``/logs/day={SPAN}/*``.
            dataset: the declaration.
            name: of the configuration, for the manifest.
        """
        base, patterns = split_input(input_base)
        settings = struct_pb2.Struct()
        settings.update(
            {
                "dataset": dataset.model_dump_json(),
                "name": name,
                "folder": len(patterns) > 1,
            }
        )
        custom_config = example_gen_pb2.CustomConfig()
        custom_config.custom_config.Pack(settings)
        super().__init__(
            input_base=base,
            input_config=example_gen_pb2.Input(
                splits=[
                    example_gen_pb2.Input.Split(name=f"depth_{depth}", pattern=pattern)
                    for depth, pattern in enumerate(patterns)
                ]
            ),
            # The executor splits by the data set's own rule; these name the result.
            output_config=example_gen_pb2.Output(
                split_config=example_gen_pb2.SplitConfig(
                    splits=[
                        example_gen_pb2.SplitConfig.Split(name=split, hash_buckets=1)
                        for split in dataset.split_names
                    ]
                )
            ),
            custom_config=custom_config,
        )


def split_input(input_base: str) -> tuple[str, list[str]]:
    """An input as the base folder and the patterns that TFX's driver wants.

    Args:
        input_base: folder, file, or pattern.

    Returns:
        The folder, and one pattern for a file or pattern, or one for each depth of a
        folder.
    """
    path = input_base.rstrip("/") or "/"
    if any(mark in path for mark in _PATTERN_MARKS) and not os.path.exists(path):
        parts = path.split("/")
        first = next(
            index
            for index, part in enumerate(parts)
            if any(mark in part for mark in _PATTERN_MARKS)
        )
        return "/".join(parts[:first]) or "/", ["/".join(parts[first:])]
    # A path that is not on this machine (a cluster's) is a file if it has an ending.
    is_file = os.path.isfile(path) or (
        not os.path.exists(path) and "." in posixpath.basename(path)
    )
    if is_file:
        return posixpath.dirname(path) or ".", [posixpath.basename(path)]
    return path, ["/".join(["*"] * depth) for depth in range(1, _DEPTH + 1)]

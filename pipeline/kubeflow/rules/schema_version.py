"""The API server reads schema 2.1.0 only, and no PipelineJob.

TFX's runner writes 2.0.0 unless told otherwise, inside the PipelineJob that Vertex AI
takes.
"""

from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format, message

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault

RULE = "schema"
VERSION = "2.1.0"


def faults(document: Document) -> Iterator[Fault]:
    """Yields a wrong version, a PipelineJob, and what the protos cannot hold."""
    if document.is_job:
        yield Fault(
            RULE,
            "the file",
            "PipelineJob",
            "Kubeflow takes a PipelineSpec; compile with --target kubeflow",
        )
    found = document.pipeline.get("schemaVersion", "none")
    if found != VERSION:
        yield Fault(
            RULE,
            "schemaVersion",
            str(found),
            f"only {VERSION} is read; compile with use_pipeline_spec_2_1",
        )
    yield from malformed(document)


def malformed(document: Document) -> Iterator[Fault]:
    """Yields what is no PipelineSpec at all.

    Fields that the installed kfp does not know are let through: a newer one wrote them.
    """
    from kfp.pipeline_spec import pipeline_spec_pb2 as pb

    if "dag" not in document.pipeline.get("root", {}):
        yield Fault(RULE, "root.dag", "none", "a pipeline is a DAG of tasks; add them")
    parts: list[tuple[str, Any, message.Message]] = [
        ("the first document", document.pipeline, pb.PipelineSpec()),
        (
            "deploymentSpec",
            document.pipeline.get("deploymentSpec", {}),
            pb.PipelineDeploymentConfig(),
        ),
        ("the second document", document.platform, pb.PlatformSpec()),
    ]
    for place, content, proto in parts:
        try:
            json_format.ParseDict(content, proto, ignore_unknown_fields=True)
        except json_format.ParseError as error:
            yield Fault(RULE, place, str(error), "compile it again with kfp or ctr")

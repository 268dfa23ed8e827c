"""The API server reads schema 2.1.0 only, and no PipelineJob.

TFX's runner writes 2.0.0 unless told otherwise, inside the PipelineJob that Vertex AI
takes.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault

RULE = "schema"
VERSION = "2.1.0"
_REMEDY = "compile it again with kfp or ctr"


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

    deployment = document.pipeline.get("deploymentSpec", {})
    parts: list[tuple[str, Any, Message]] = [
        ("", document.pipeline, pb.PipelineSpec()),
        ("deploymentSpec", deployment, pb.PipelineDeploymentConfig()),
        ("", document.platform, pb.PlatformSpec()),
    ]
    found = [fault for part in parts for fault in _part_faults(*part)]
    yield from found
    if not found and "dag" not in document.pipeline.get("root", {}):
        yield Fault(RULE, "root.dag", "none", "a pipeline is a DAG of tasks; add them")


def _part_faults(place: str, content: Any, proto: Message) -> Iterator[Fault]:
    """Yields what keeps a part of the file from being read as its proto."""
    found = list(_no_objects(place, content, proto))
    yield from found
    if not found:
        try:
            json_format.ParseDict(content, proto, ignore_unknown_fields=True)
        except (json_format.ParseError, RecursionError) as error:
            yield Fault(RULE, place or proto.DESCRIPTOR.name, str(error), _REMEDY)


def _no_objects(place: str, content: Any, proto: Message) -> Iterator[Fault]:
    """Yields where a message belongs and no object stands.

    protobuf's reader lets ``''`` and ``[]`` through there. Its own types, such as
    ``Struct`` and ``Duration``, it does check.
    """
    if proto.DESCRIPTOR.file.package == "google.protobuf":
        return
    if not isinstance(content, dict):
        yield Fault(RULE, place, repr(content), f"must be an object; {_REMEDY}")
        return
    for field in proto.DESCRIPTOR.fields:
        if field.json_name in content:
            inside = f"{place}.{field.json_name}".lstrip(".")
            value, part = content[field.json_name], getattr(proto, field.name)
            if isinstance(part, Message):
                yield from _no_objects(inside, value, part)
            elif isinstance(part, Mapping) and isinstance(value, dict):
                for name, item in value.items():
                    # A map of messages makes the entry that it is asked for.
                    if isinstance(entry := part[str(name)], Message):
                        yield from _no_objects(f"{inside}.{name}", item, entry)

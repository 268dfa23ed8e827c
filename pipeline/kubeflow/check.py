"""Checks a compiled pipeline against every rule."""

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault
from pipeline.kubeflow.rules import (
    accelerator,
    caching,
    condition,
    dependencies,
    lifecycle,
    parameter_defaults,
    pods,
    resolver,
    retries,
    schema_version,
    task_names,
    typed_inputs,
)

RULES = (
    schema_version,
    task_names,
    dependencies,
    resolver,
    lifecycle,
    typed_inputs,
    accelerator,
    parameter_defaults,
    condition,
    retries,
    caching,
    pods,
)


def check(document: Document) -> list[Fault]:
    """Finds what open-source Kubeflow Pipelines would refuse, ignore or fail on.

    Args:
        document: a compiled pipeline, whoever compiled it.

    Returns:
        Every broken rule; only those of the schema where the rest cannot be read.
    """
    if list(schema_version.malformed(document)):
        return list(schema_version.faults(document))
    return [fault for rule in RULES for fault in rule.faults(document)]

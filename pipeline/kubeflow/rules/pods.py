"""Pods must be such as Kubernetes admits.

The platform document is read when a task starts: a bad label, or settings for an
executor that is not there, shows late or never.
"""

from collections.abc import Iterator

from data.errors import suggest
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault
from pipeline.kubeflow.names import label_rule

RULE = "pods"
_PLACE = "platforms.kubernetes.deploymentSpec.executors"


def faults(document: Document) -> Iterator[Fault]:
    """Yields settings of unknown executors and labels that Kubernetes refuses."""
    for name, settings in sorted(document.kubernetes.items()):
        place = f"{_PLACE}.{name}"
        if name not in document.executors:
            yield Fault(
                RULE,
                place,
                repr(name),
                "no such executor, so nothing is applied; use a label of "
                f"deploymentSpec.executors.{suggest(name, document.executors)}",
            )
        for group in ("podMetadata", "nodeSelector"):
            found = settings.get(group, {})
            labels = found.get("labels", {}) if isinstance(found, dict) else found
            if not isinstance(labels, dict):
                remedy = "must hold labels, an object of texts; correct it"
                yield Fault(RULE, f"{place}.{group}", repr(labels), remedy)
                continue
            for key, value in sorted(labels.items()):
                rule = label_rule(key, str(value))
                if rule is not None:
                    yield Fault(RULE, f"{place}.{group}.labels", f"{key}={value}", rule)

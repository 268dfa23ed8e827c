"""Pods must be such as Kubernetes admits.

The platform document is read when a task starts: a bad label, or settings for an
executor that is not there, shows late or never.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from data.errors import suggest
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault
from pipeline.kubeflow.names import (
    label_key_rule,
    label_rule,
    label_value_rule,
    object_name_rule,
)
from pipeline.kubeflow.quantities import MOST_SECONDS

RULE = "pods"
_PLACE = "platforms.kubernetes.deploymentSpec.executors"
# Lists of objects, and the rules of their texts.
_TEXTS: dict[str, dict[str, Callable[[str], str | None]]] = {
    "tolerations": {"key": label_key_rule, "value": label_value_rule},
    "secretAsEnv": {"secretName": object_name_rule},
    "imagePullSecret": {"secretName": object_name_rule},
}


def faults(document: Document) -> Iterator[Fault]:
    """Yields settings of unknown executors and what Kubernetes refuses of a pod."""
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
        if not isinstance(settings, dict):
            yield Fault(RULE, place, repr(settings), "must be an object; correct it")
            continue
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
        yield from _lists(place, settings)
        yield from _deadline(place, settings)


def _lists(place: str, settings: dict[str, Any]) -> Iterator[Fault]:
    """Yields texts of tolerations and secrets that Kubernetes refuses."""
    for group, rules in _TEXTS.items():
        found = settings.get(group, [])
        for index, item in enumerate(found if isinstance(found, list) else [found]):
            where = f"{place}.{group}[{index}]"
            if not isinstance(item, dict):
                yield Fault(RULE, where, repr(item), "must be an object; correct it")
                continue
            for member, rule in rules.items():
                text = str(item.get(member, ""))
                # What a run's parameter decides is not known here.
                broken = rule(text) if text and "{{" not in text else None
                if broken is not None:
                    yield Fault(RULE, f"{where}.{member}", repr(text), broken)


def _deadline(place: str, settings: dict[str, Any]) -> Iterator[Fault]:
    """Yields a time limit that is no positive int32."""
    # The JSON of a proto may write a number as text.
    limit = str(settings.get("activeDeadlineSeconds", 1))
    is_number = re.fullmatch(r"[0-9]{1,10}", limit) is not None
    if not (is_number and 1 <= int(limit) <= MOST_SECONDS):
        yield Fault(
            RULE,
            f"{place}.activeDeadlineSeconds",
            limit,
            f"must be a whole number from 1 to {MOST_SECONDS}; correct it",
        )

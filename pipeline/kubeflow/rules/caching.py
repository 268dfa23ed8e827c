"""Caching is decided for each task, and only for an image named by its digest.

The cache knows a task by its inputs and the name of its image. The code of a TFX
component lies in the image, so under a tag that moved the outputs of old code would be
taken for those of the new. A task that reads what is not among its inputs, the files of
the log or the pointer to the blessed model, would never see a change.
"""

from collections.abc import Iterator
from typing import Any

from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault
from pipeline.kubeflow.rules.resolver import BLESSED_MODEL
from pipeline.kubeflow.rules.typed_inputs import ENTRY_POINT, TFX_MODULE

RULE = "caching"


def repair(document: Document, enabled: bool) -> None:
    """Writes the switch of each task, so that no client's default decides.

    Args:
        document: the compiled pipeline.
        enabled: whether equal tasks are answered from the cache, where that is safe.
    """
    for _, task in document.tasks():
        is_safe = not _reads_more(document.container_of(task) or {})
        task["cachingOptions"] = {"enableCache": enabled and is_safe}


def faults(document: Document) -> Iterator[Fault]:
    """Yields cached tasks whose cache would hide a change."""
    for place, task in document.tasks():
        if not task.get("cachingOptions", {}).get("enableCache", False):
            continue
        container = document.container_of(task) or {}
        image = str(container.get("image", ""))
        where = f"{place}.cachingOptions"
        if _reads_more(container):
            yield Fault(
                RULE,
                where,
                "enableCache: true",
                "the task reads files that are not among its inputs, and would not see "
                "new ones; set enableCache: false",
            )
        elif _is_tfx(container) and "@sha256:" not in image:
            yield Fault(
                RULE,
                where,
                image,
                "edited code under the same tag would be answered by old outputs; name "
                "the image by digest, or set enableCache: false",
            )


def _is_tfx(container: dict[str, Any]) -> bool:
    """Whether a container runs a component of TFX."""
    return bool({ENTRY_POINT, TFX_MODULE} & set(container.get("command", [])))


def _reads_more(container: dict[str, Any]) -> bool:
    """Whether a container looks for files by itself."""
    return BLESSED_MODEL in container.get("command", []) or (
        "--driver" in container.get("args", [])
    )

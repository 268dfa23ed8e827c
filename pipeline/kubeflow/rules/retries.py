"""A task that fails is tried again after a pause that grows.

Nodes are drained and object stores time out; TFX writes no retries. A retry without a
pause meets the same outage, and its attempts are used up within seconds.
"""

from collections.abc import Iterator

from pipeline.kubeflow.config import Retries
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.fault import Fault

RULE = "retries"


def repair(document: Document, retries: Retries) -> None:
    """Gives each container task without a policy the configured one.

    Args:
        document: the compiled pipeline.
        retries: how often and after which pause; none if its count is 0.
    """
    if retries.count == 0:
        return
    for _, task in document.tasks():
        if document.container_of(task) is not None:
            task.setdefault(
                "retryPolicy",
                {
                    "maxRetryCount": retries.count,
                    "backoffDuration": f"{retries.backoff_seconds}s",
                    "backoffFactor": retries.factor,
                    "backoffMaxDuration": f"{retries.max_backoff_seconds}s",
                },
            )


def faults(document: Document) -> Iterator[Fault]:
    """Yields retries without a pause."""
    for place, task in document.tasks():
        policy = task.get("retryPolicy", {})
        pause = str(policy.get("backoffDuration", "0s"))
        # The JSON of a proto may write a number as text.
        count = int(policy.get("maxRetryCount", 0))
        if count > 0 and float(pause.rstrip("s") or 0) <= 0:
            yield Fault(
                RULE,
                f"{place}.retryPolicy",
                f"backoffDuration {pause}",
                "all retries would meet the same outage; set one such as 60s",
            )

"""What the pods of a failed job have to say."""

from collections.abc import Callable
from typing import Any

from data.errors import RunError
from pipeline.kubeflow.training.jobs import Jobs

LINES = 20
# When one worker fails, the others lose their cluster and fail, too.
_PODS = 4
_STARTING = ("ContainerCreating", "PodInitializing")


def why(jobs: Jobs, name: str, note: Callable[[str], None]) -> str:
    """Collects what is wrong with the pods of a job, before they are deleted.

    Args:
        jobs: the job's namespace.
        name: of the job.
        note: receives the last lines of each pod that failed.

    Returns:
        The first pod's trouble and its last line, on one line; empty if none is known.
    """
    try:
        pods = jobs.pods(name)
    except RunError as error:
        return f"its pods are not known: {error}"
    found = ""
    troubled = [(pod, said) for pod in pods if (said := _trouble(pod))]
    for pod, trouble in troubled[:_PODS]:
        title = f"pod {pod.metadata.name}: {trouble}"
        lines = _log(jobs, pod.metadata.name)
        for line in (title, *lines):
            note(line)
        found = found or " ".join(
            [title, *(f"({line.strip()})" for line in lines[-1:])]
        )
    return found


def _log(jobs: Jobs, pod: str) -> list[str]:
    """The last lines of a pod; why there are none, if its log cannot be read."""
    try:
        return jobs.log(pod, LINES)
    except RunError as error:
        return [f"no log: {error}"]


def _trouble(pod: Any) -> str:
    """Why a pod does not run; empty if it does, or ended well."""
    for container in pod.status.container_statuses or []:
        for state in (container.state, container.last_state):
            ended = state.terminated if state else None
            if ended is not None and ended.exit_code:
                return f"exit code {ended.exit_code} {ended.reason or ''}".strip()
            waiting = state.waiting if state else None
            if waiting is not None and waiting.reason not in (None, *_STARTING):
                return str(waiting.reason)
    for condition in pod.status.conditions or []:
        if condition.type == "PodScheduled" and condition.status == "False":
            return f"not scheduled: {condition.message}"
    return str(pod.status.reason or "failed") if pod.status.phase == "Failed" else ""

"""Waits for the end of a job and tells how it stands."""

from collections.abc import Callable

from pipeline.kubeflow.training.jobs import Jobs
from pipeline.kubeflow.training.refusal import UnansweredError
from pipeline.kubeflow.training.state import State


def wait_for_end(
    jobs: Jobs,
    name: str,
    *,
    timeout: float | None,
    poll: float,
    note: Callable[[str], None],
) -> State:
    """Looks at a job until it has ended; a deadline starts when it leaves the queue.

    An API server that does not answer ends no training: it is asked on.

    Args:
        jobs: the job's namespace.
        name: of the job.
        timeout: seconds outside of the queue; None for no limit.
        poll: seconds between two looks.
        note: receives one line for each change, and where there is no answer.

    Returns:
        The last state, ``succeeded`` or ``failed``; a job that takes too long or that
        somebody deletes has failed.

    Raises:
        RunError: the API server refuses to show the job.
    """
    last, since = State("waiting", ""), jobs.clock()
    while True:
        state = _look(jobs, name, note) or last
        if state != last:
            note(f"{jobs.kind.name} {name}: {state.text}")
        if state.is_final:
            return state
        if last.phase == "waiting":
            since = jobs.clock()
        if timeout is not None and jobs.clock() - since > timeout:
            return State(
                "failed",
                f"no end after {timeout:.0f} s; raise "
                "kubeflow.training.timeout_seconds",
            )
        last = state
        jobs.sleep(poll)


def _look(jobs: Jobs, name: str, note: Callable[[str], None]) -> State | None:
    """The state of a job now; None if the API server does not answer."""
    try:
        job = jobs.read(name)
    except UnansweredError as error:
        note(f"{jobs.kind.name} {name}: its state is not known, asks on: {error}")
        return None
    if job is None:
        return State("failed", "somebody deleted it")
    return jobs.kind.state_of(job)

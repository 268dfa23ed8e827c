"""One job from its creation to its deletion, whatever comes between."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

from data.errors import RunError
from pipeline.kubeflow.training.jobs import Jobs
from pipeline.kubeflow.training.logs import why
from pipeline.kubeflow.training.manifest import manifest
from pipeline.kubeflow.training.spec import TrainingSpec, job_name
from pipeline.kubeflow.training.wait import wait_for_end

# What a shell reports of a program that SIGTERM ended.
_TERMINATED = 128 + signal.SIGTERM


def run_job(
    jobs: Jobs, spec: TrainingSpec, uri: str, note: Callable[[str], None]
) -> None:
    """Creates a job, waits for its end, and deletes it.

    Args:
        jobs: the namespace.
        spec: the job.
        uri: of the job file.
        note: receives a line for each change and the logs of pods that failed.

    Raises:
        RunError: the job was refused, failed, took too long, or was deleted.
        SystemExit: SIGTERM came, as when somebody cancels the run.
    """
    name = job_name(spec.pipeline, uri)
    with _terminable():
        try:
            jobs.create(manifest(spec, uri, jobs.namespace, os.environ))
            state = wait_for_end(
                jobs,
                name,
                timeout=spec.training.timeout_seconds,
                poll=spec.training.poll_seconds,
                note=note,
            )
            if state.phase == "failed":
                told = filter(None, (state.text, why(jobs, name, note)))
                raise RunError(
                    f"{jobs.kind.name} {name} in namespace {jobs.namespace}: failed: "
                    f"{'; '.join(told) or 'neither its status nor its pods say why'}"
                )
        except BaseException:
            _delete(jobs, name, uri, note)
            raise
    if not spec.training.keep:
        _delete(jobs, name, uri, note)


def _delete(jobs: Jobs, name: str, uri: str, note: Callable[[str], None]) -> None:
    """Deletes a job; the outcome of the training counts more than that it fails."""
    try:
        jobs.remove(name, uri)
    except RunError as error:
        note(f"{jobs.kind.name} {name}: not deleted: {error}")


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Turns SIGTERM into an exception within the block, so that it cleans up."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        del frame
        # Cleaning up is under way; a second one would cut it short.
        signal.signal(number, signal.SIG_IGN)
        raise SystemExit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

"""Hands a compiled pipeline to Kubeflow Pipelines: one run, or runs on a schedule."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.errors import RunError, UsageError
from pipeline.kubeflow.config import Schedule
from pipeline.kubeflow.server import LostConnectionError, Server

_ENDED = ("succeeded", "failed", "skipped", "canceled", "error")


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What is submitted.

    Attributes:
        spec: the compiled pipeline.
        name: of the run, or of the recurring run.
        experiment: that holds it; made if it is not there.
        parameters: of the run, by name.
        service_account: of the pods; the installation's own when None.
    """

    spec: Path
    name: str
    experiment: str
    parameters: Mapping[str, Any]
    service_account: str | None


def start(server: Server, submission: Submission) -> dict[str, Any]:
    """Starts one run.

    Args:
        server: where.
        submission: what.

    Returns:
        Its id and where its page is.

    Raises:
        RunError: the server refuses, names no run, or the connection was lost.
    """
    with server.errors():
        run = server.client.create_run_from_pipeline_package(
            str(submission.spec),
            arguments=dict(submission.parameters),
            run_name=submission.name,
            experiment_name=submission.experiment,
            namespace=server.namespace,
            service_account=submission.service_account,
        )
    run_id = _made(server, run.run_id)
    return {"run": run_id, "page": server.page(run_id)}


def _made(server: Server, made: str | None) -> str:
    """The id of what was made; kfp's client takes any JSON for an answer."""
    if not made:
        raise RunError(
            f"{server.endpoint}: answered without a run; is this the API? Check "
            "--endpoint, then the list of runs"
        )
    return made


def wait(
    server: Server,
    run: str,
    timeout: float,
    told: Callable[[str], None],
    pause: float = 5.0,
) -> str:
    """Waits for the end of a run; a server that does not answer is asked again.

    Args:
        server: where it runs.
        run: its id.
        timeout: seconds.
        told: hears of each new state.
        pause: seconds between two questions.

    Returns:
        ``succeeded``.

    Raises:
        RunError: it ended otherwise, or not in time, or the server refuses to say.
    """
    end = time.monotonic() + timeout
    before = state = ""
    while state not in _ENDED:
        if time.monotonic() > end:
            raise RunError(
                f"run {run}: still {state or 'unknown'} after {timeout:.0f} s; it goes "
                f"on: {server.page(run)}"
            )
        if before:
            time.sleep(pause)
        try:
            with server.errors():
                state = str(server.client.get_run(run).state).lower()
        except LostConnectionError:
            state = "no answer"
        if state != before:
            told(state)
        before = state
    if state != "succeeded":
        raise RunError(f"run {run}: {state}; see {server.page(run)}")
    return state


def schedule_runs(
    server: Server, submission: Submission, schedule: Schedule, *, replace: bool
) -> dict[str, Any]:
    """Lets runs start by themselves.

    Args:
        server: where.
        submission: what each run is.
        schedule: when.
        replace: take away an earlier one of this name, once the new one is there.

    Returns:
        Its id, its times, and how many it replaced.

    Raises:
        UsageError: there is one of this name, and ``replace`` is not given.
        RunError: the server refuses, names no run, or the connection was lost.
    """
    with server.errors():
        found = server.client.create_experiment(
            submission.experiment, namespace=server.namespace
        )
        earlier = _recurring_runs(server, submission.name, found.experiment_id)
        if earlier and not replace:
            raise UsageError(
                f"--schedule: experiment '{submission.experiment}' has a recurring run "
                f"'{submission.name}'; pass --replace to put this one in its place"
            )
        made = server.client.create_recurring_run(
            experiment_id=found.experiment_id,
            job_name=submission.name,
            cron_expression=schedule.cron,
            max_concurrency=schedule.max_concurrency,
            # A run reads the newest data, so one that was missed has no use.
            no_catchup=True,
            params=dict(submission.parameters),
            pipeline_package_path=str(submission.spec),
            enabled=schedule.enabled,
            service_account=submission.service_account,
        )
        recurring_run = _made(server, made.recurring_run_id)
        for one in earlier:
            server.client.delete_recurring_run(one)
    return {
        "recurring_run": recurring_run,
        "cron": schedule.cron,
        "replaced": len(earlier),
    }


def _recurring_runs(server: Server, name: str, experiment: str) -> list[str]:
    """Ids of the recurring runs of a name."""
    found: list[str] = []
    token = ""
    while True:
        page = server.client.list_recurring_runs(
            page_token=token, page_size=100, experiment_id=experiment
        )
        found += [
            one.recurring_run_id
            for one in page.recurring_runs or []
            if one.display_name == name
        ]
        token = page.next_page_token or ""
        if not token:
            return found

"""Hands a compiled pipeline to Kubeflow Pipelines: one run, or runs on a schedule."""

import contextlib
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from data.errors import ConfigError, RunError, UsageError, suggest
from pipeline.kubeflow.config import Schedule
from pipeline.kubeflow.document import Document

# kfp's own variable for the address; the token has no variable there.
ENDPOINT = "KF_PIPELINES_ENDPOINT"
TOKEN = "KFP_TOKEN"  # noqa: S105 (the name of the variable)
_HEALTH = "apis/v2beta1/healthz"
_TIMEOUT_S = 10
_ENDED = ("succeeded", "failed", "skipped", "canceled", "error")
_READERS: dict[str, Callable[[str], Any]] = {
    "NUMBER_INTEGER": int,
    "NUMBER_DOUBLE": float,
    "BOOLEAN": lambda text: {"true": True, "false": False}[text.lower()],
    "LIST": json.loads,
    "STRUCT": json.loads,
}


class Server:
    """A Kubeflow Pipelines API server.

    Args:
        endpoint: its URL; from the environment when None.
        namespace: of the runs, in a multi-user installation.

    Raises:
        UsageError: there is no endpoint.
        RunError: nothing answers there, or it refuses.
    """

    def __init__(self, endpoint: str | None, namespace: str | None = None) -> None:
        self.endpoint = (endpoint or os.environ.get(ENDPOINT, "")).rstrip("/")
        if not self.endpoint:
            raise UsageError(
                "--endpoint: needed, the URL of the Kubeflow Pipelines API; pass one "
                f"such as http://localhost:8080, or set {ENDPOINT}"
            )
        if not self.endpoint.startswith(("http://", "https://")):
            raise UsageError(
                f"--endpoint {self.endpoint}: must begin with http:// or https://"
            )
        self._namespace = namespace
        token = os.environ.get(TOKEN)
        # kfp's client asks five times, with pauses, before it says what is wrong.
        self._greet(token)
        from kfp import Client

        with self._errors():
            self._client = Client(
                host=self.endpoint,
                existing_token=token,
                namespace=namespace or "kubeflow",
            )

    def _greet(self, token: str | None) -> None:
        """Asks whether the server is there."""
        # The scheme was checked: http or https.
        request = urllib.request.Request(f"{self.endpoint}/{_HEALTH}")  # noqa: S310
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(  # noqa: S310
                request, timeout=_TIMEOUT_S
            ) as answer:
                json.load(answer)
        except urllib.error.HTTPError as error:
            raise self._refused(error.code, error.reason) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise RunError(
                f"--endpoint {self.endpoint}: no Kubeflow Pipelines API answers: "
                f"{reason}; check the URL, or forward the port: kubectl port-forward "
                "-n kubeflow svc/ml-pipeline-ui 8080:80"
            ) from None

    def _refused(self, status: int, reason: str) -> RunError:
        """What an HTTP status means, in one line."""
        remedy = {
            401: f"set {TOKEN} to a valid token",
            403: f"the account of {TOKEN} needs rights on runs in the namespace",
            404: f"nothing is at /{_HEALTH}; check the path of the URL",
        }.get(status, "see the log of the deployment ml-pipeline")
        return RunError(f"{self.endpoint}: HTTP {status}: {reason}; {remedy}")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns kfp's errors into one line, and keeps its prints off stdout."""
        import kfp_server_api
        import urllib3

        try:
            with contextlib.redirect_stdout(sys.stderr):
                yield
        except kfp_server_api.ApiException as error:
            raise self._refused(error.status, _message(error)) from None
        except (urllib3.exceptions.HTTPError, TimeoutError) as error:
            raise RunError(
                f"{self.endpoint}: the connection was lost: {type(error).__name__}; "
                "submit again"
            ) from None

    def start(
        self,
        spec: Path,
        *,
        name: str,
        experiment: str,
        parameters: Mapping[str, Any],
        service_account: str | None,
    ) -> dict[str, Any]:
        """Starts one run.

        Args:
            spec: the compiled pipeline.
            name: of the run.
            experiment: that holds it; made if it is not there.
            parameters: of the run, by name.
            service_account: of the pods; the installation's own when None.

        Returns:
            Its id and where its page is.

        Raises:
            RunError: the server refuses.
        """
        with self._errors():
            run = self._client.create_run_from_pipeline_package(
                str(spec),
                arguments=dict(parameters),
                run_name=name,
                experiment_name=experiment,
                namespace=self._namespace,
                service_account=service_account,
            )
        return {"run": run.run_id, "page": self._page(run.run_id)}

    def wait(
        self,
        run: str,
        timeout: float,
        told: Callable[[str], None],
        pause: float = 5.0,
    ) -> str:
        """Waits for the end of a run.

        Args:
            run: its id.
            timeout: seconds.
            told: hears of each new state.
            pause: seconds between two questions.

        Returns:
            ``succeeded``.

        Raises:
            RunError: it ended otherwise, or not in time.
        """
        end = time.monotonic() + timeout
        before = state = ""
        while state not in _ENDED:
            if time.monotonic() > end:
                raise RunError(
                    f"run {run}: still {state} after {timeout:.0f} s; it goes on: "
                    f"{self._page(run)}"
                )
            if before:
                time.sleep(pause)
            with self._errors():
                state = str(self._client.get_run(run).state).lower()
            if state != before:
                told(state)
            before = state
        if state != "succeeded":
            raise RunError(f"run {run}: {state}; see {self._page(run)}")
        return state

    def _page(self, run: str) -> str:
        """Where people see a run."""
        return f"{self.endpoint}/#/runs/details/{run}"

    def schedule(
        self,
        spec: Path,
        schedule: Schedule,
        *,
        name: str,
        experiment: str,
        parameters: Mapping[str, Any],
        service_account: str | None,
        replace: bool,
    ) -> dict[str, Any]:
        """Lets runs start by themselves.

        Args:
            spec: the compiled pipeline.
            schedule: when.
            name: of the recurring run.
            experiment: that holds it; made if it is not there.
            parameters: of each run, by name.
            service_account: of the pods; the installation's own when None.
            replace: take away an earlier one of this name, once the new one is there.

        Returns:
            Its id, its times, and how many it replaced.

        Raises:
            UsageError: there is one of this name, and ``replace`` is not given.
            RunError: the server refuses.
        """
        with self._errors():
            found = self._client.create_experiment(
                experiment, namespace=self._namespace
            )
            earlier = self._recurring_runs(name, found.experiment_id)
            if earlier and not replace:
                raise UsageError(
                    f"--schedule: experiment '{experiment}' has a recurring run "
                    f"'{name}'; pass --replace to put this one in its place"
                )
            made = self._client.create_recurring_run(
                experiment_id=found.experiment_id,
                job_name=name,
                cron_expression=schedule.cron,
                max_concurrency=schedule.max_concurrency,
                # A run reads the newest data, so one that was missed has no use.
                no_catchup=True,
                params=dict(parameters),
                pipeline_package_path=str(spec),
                enabled=schedule.enabled,
                service_account=service_account,
            )
            for one in earlier:
                self._client.delete_recurring_run(one)
        return {
            "recurring_run": made.recurring_run_id,
            "cron": schedule.cron,
            "replaced": len(earlier),
        }

    def _recurring_runs(self, name: str, experiment: str) -> list[str]:
        """Ids of the recurring runs of a name."""
        found: list[str] = []
        token = ""
        while True:
            page = self._client.list_recurring_runs(
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


def run_values(document: Document, given: Mapping[str, str]) -> dict[str, Any]:
    """Parameters of a run, from text to the types that the spec declares.

    Args:
        document: the compiled pipeline.
        given: texts by name.

    Returns:
        Values by name.

    Raises:
        UsageError: the spec has no such parameter.
        ConfigError: a text is not of its type.
    """
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in document.parameters:
            known = ", ".join(sorted(document.parameters)) or "none"
            raise UsageError(
                f"--parameter {name}: the pipeline has no such parameter. Known: "
                f"{known}.{suggest(name, document.parameters)}"
            )
        kind = document.parameters[name]["parameterType"]
        try:
            values[name] = _READERS.get(kind, str)(text)
        except (KeyError, ValueError):
            raise ConfigError(
                f"--parameter {name}: must be of type {kind}, got {text!r}"
            ) from None
    return values


def _message(error: Any) -> str:
    """The server's own words, without its stack."""
    try:
        body = json.loads(error.body)
        text = str(body.get("error_message") or body.get("message") or body["error"])
    except (TypeError, ValueError, KeyError, AttributeError):
        text = str(error.reason)
    return text.splitlines()[0] if text else "no reason given"

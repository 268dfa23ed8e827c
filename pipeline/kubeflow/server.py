"""The API server of Kubeflow Pipelines, and what its refusals mean."""

import contextlib
import http.client
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

from data.errors import RunError, UsageError
from pipeline.kubeflow.names import dns_label_rule

# kfp's own variable for the address; the token has no variable there.
ENDPOINT = "KF_PIPELINES_ENDPOINT"
TOKEN = "KFP_TOKEN"  # noqa: S105 (the name of the variable)
_HEALTH = "apis/v2beta1/healthz"
_TIMEOUT_S = 10
# What a header can hold; a token has no white space.
_TOKEN_TEXT = re.compile(r"[!-~]+")


class LostConnectionError(RunError):
    """The server did not answer, or not to the end: what was asked may be done."""


class Server:
    """A Kubeflow Pipelines API server.

    Attributes:
        endpoint: its URL.
        namespace: of the runs, in a multi-user installation.
        client: kfp's client; calls stand in ``errors()``.
    """

    def __init__(self, endpoint: str | None, namespace: str | None = None) -> None:
        """Connects.

        Args:
            endpoint: its URL; from the environment when None.
            namespace: of the runs, in a multi-user installation.

        Raises:
            UsageError: an endpoint is absent, or it, namespace or token is malformed.
            RunError: nothing answers there, or it refuses.
        """
        self.endpoint, self._token = access(endpoint, namespace)
        self.namespace = namespace
        # kfp's client asks five times, with pauses, before it says what is wrong.
        self._greet()
        from kfp import Client

        with self.errors():
            self.client = Client(
                host=self.endpoint,
                existing_token=self._token,
                namespace=namespace or "kubeflow",
            )

    def page(self, run: str) -> str:
        """Where people see a run."""
        return f"{self.endpoint}/#/runs/details/{run}"

    def _greet(self) -> None:
        """Asks whether the server is there."""
        # The scheme was checked: http or https.
        request = urllib.request.Request(f"{self.endpoint}/{_HEALTH}")  # noqa: S310
        if self._token:
            # A page of a login on another host must not get it.
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(  # noqa: S310
                request, timeout=_TIMEOUT_S
            ) as answer:
                json.load(answer)
        except urllib.error.HTTPError as error:
            raise self._refused(error.code, error.reason) from None
        except json.JSONDecodeError:
            raise RunError(
                f"--endpoint {self.endpoint}: something else than the API of Kubeflow "
                f"Pipelines answers, a login page perhaps; set {TOKEN}, or check the URL"
            ) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = self._redacted(str(getattr(error, "reason", error)))
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
            404: "check the path of the URL, and whether what is asked for is there",
        }.get(status, "see the log of the deployment ml-pipeline")
        shown = self._redacted(str(reason))
        return RunError(f"{self.endpoint}: HTTP {status}: {shown}; {remedy}")

    def _redacted(self, text: str) -> str:
        """A text of the server or of a library, which may repeat the header."""
        return text.replace(self._token, "[token]") if self._token else text

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turns kfp's errors into one line, and keeps its prints off stdout.

        Raises:
            LostConnectionError: the server stopped answering.
            RunError: it refuses.
        """
        import kfp_server_api
        import urllib3

        try:
            with contextlib.redirect_stdout(sys.stderr):
                yield
        except kfp_server_api.ApiException as error:
            raise self._refused(error.status, _message(error)) from None
        except (urllib3.exceptions.HTTPError, TimeoutError) as error:
            raise LostConnectionError(
                f"{self.endpoint}: the connection was lost: {type(error).__name__}; look "
                "at the list of runs before you submit again"
            ) from None


def access(endpoint: str | None, namespace: str | None) -> tuple[str, str | None]:
    """Finds where the server is and what lets us in; asks nothing of it.

    Args:
        endpoint: its URL; from the environment when None.
        namespace: of the runs.

    Returns:
        The URL and the token, if there is one.

    Raises:
        UsageError: an endpoint is absent, or it, namespace or token is malformed.
    """
    if namespace is not None and (rule := dns_label_rule(namespace)):
        raise UsageError(f"--namespace {namespace!r}: {rule}; correct it")
    # A secret that is mounted as a file mostly ends with a line end.
    token = os.environ.get(TOKEN, "").strip()
    if token and not _TOKEN_TEXT.fullmatch(token):
        raise UsageError(
            f"{TOKEN}: must be ASCII characters without white space between them; set "
            "it to the token alone"
        )
    return _checked(endpoint or os.environ.get(ENDPOINT, "")), token or None


def _checked(endpoint: str) -> str:
    """The endpoint, if it is a URL without credentials."""
    endpoint = endpoint.rstrip("/")
    if not endpoint:
        raise UsageError(
            "--endpoint: needed, the URL of the Kubeflow Pipelines API; pass one such as "
            f"http://localhost:8080, or set {ENDPOINT}"
        )
    try:
        parts = urllib.parse.urlsplit(endpoint)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname)
        is_url = is_url and parts.port != 0 and not set(endpoint) & set(" \t\r\n?#")
    except ValueError:  # The port is no number, or a bracket is open.
        is_url = False
    if not is_url:
        raise UsageError(
            "--endpoint: must be a URL such as http://localhost:8080 or "
            "https://host/pipeline; correct it"
        )
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"--endpoint: holds credentials, which would be shown; set {TOKEN} instead"
        )
    return endpoint


def _message(error: Any) -> str:
    """The server's own words, without its stack."""
    try:
        body = json.loads(error.body)
        text = str(body.get("error_message") or body.get("message") or body["error"])
    except (TypeError, ValueError, KeyError, AttributeError):
        text = str(error.reason)
    return text.splitlines()[0] if text else "no reason given"

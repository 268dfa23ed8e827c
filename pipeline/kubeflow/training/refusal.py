"""Answers of the API server as one line with a remedy."""

import json
from typing import Any

from data.errors import RunError
from pipeline.kubeflow.training.kinds import JobKind

RBAC = "pipeline/kubeflow/training/rbac.yaml"
_LONGEST = 400
_TOO_MANY_REQUESTS = 429
# How the client tells of TLS that fails.
_NO_STATUS = 0


class UnansweredError(RunError):
    """The API server is away or overloaded, which says nothing about the job."""


def is_unanswered(error: Exception) -> bool:
    """Whether the same request may be answered later."""
    from kubernetes.client import ApiException
    from urllib3.exceptions import HTTPError

    if isinstance(error, ApiException):
        return error.status in (_NO_STATUS, _TOO_MANY_REQUESTS) or error.status >= 500
    return isinstance(error, HTTPError)


def refusal(
    error: Any, kind: JobKind, namespace: str, verb: str, resource: str
) -> RunError:
    """Explains why a request was refused.

    Args:
        error: the client's ``ApiException``, or urllib3's ``HTTPError``.
        kind: of the job.
        namespace: of the job.
        verb: as RBAC has it.
        resource: as RBAC has it.

    Returns:
        The error; it names rule, place and remedy.
    """
    place = f"Kubernetes: {verb} {resource} in namespace {namespace}"
    status = getattr(error, "status", _NO_STATUS)
    if status == _NO_STATUS:
        return UnansweredError(
            f"{place}: no answer ({_reason(error)}); check network policies, the "
            "address of the API server and its certificate"
        )
    message = _message(error)
    place = f"{place}: {status}"
    if is_unanswered(error):
        return UnansweredError(
            f"{place}: {message}; wait until the API server and the webhooks of "
            f"{kind.operator} are well"
        )
    if status == 401:
        remedy = "the token of the service account is not taken; mount a valid one"
    elif status == 403 and "cannot" in message:
        # Else a webhook or a quota says no, and says why.
        remedy = f"the service account lacks the verb {verb}; apply {RBAC}"
    elif status == 404 and "namespaces" in message:
        remedy = "no such namespace; correct kubeflow.training.namespace"
    elif status == 404:
        remedy = (
            f"the cluster has no {kind.plural}.{kind.group}; install {kind.operator}, "
            "or choose the other kubeflow.training.kind"
        )
    else:
        remedy = f"{message}; correct kubeflow.training"
    return RunError(f"{place}: {remedy}")


def _message(error: Any) -> str:
    """What the server says, on one line."""
    try:
        return _line(json.loads(error.body)["message"])
    except (TypeError, ValueError, KeyError):
        return _line(error.reason or "no reason given")


def _reason(error: Any) -> str:
    """Why there is no answer."""
    return _line(getattr(error, "reason", None) or type(error).__name__)


def _line(text: Any) -> str:
    """A text on one line, cut where it is long."""
    text = " ".join(str(text).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."

"""Answers of the API server as one line with a remedy."""

import json
from typing import Any

from data.errors import RunError
from pipeline.kubeflow.training.kinds import JobKind

RBAC = "pipeline/kubeflow/training/rbac.yaml"
_LONGEST = 400


def refusal(
    error: Any, kind: JobKind, namespace: str, verb: str, resource: str
) -> RunError:
    """Explains why a request was refused.

    Args:
        error: the client's ``ApiException``.
        kind: of the job.
        namespace: of the job.
        verb: as RBAC has it.
        resource: as RBAC has it.

    Returns:
        The error; it names rule, place and remedy.
    """
    message = _message(error)
    place = f"Kubernetes: {verb} {resource} in namespace {namespace}: {error.status}"
    if error.status == 401:
        remedy = "the token of the service account is not taken; mount a valid one"
    elif error.status == 403 and "cannot" in message:
        # Else a webhook or a quota says no, and says why.
        remedy = f"the service account lacks the verb {verb}; apply {RBAC}"
    elif error.status == 404 and "namespaces" in message:
        remedy = "no such namespace; correct kubeflow.training.namespace"
    elif error.status == 404:
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
        text = str(json.loads(error.body)["message"])
    except (TypeError, ValueError, KeyError):
        text = str(error.reason or "no reason given")
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."

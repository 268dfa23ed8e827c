"""Finds the cluster from inside a pod, or by a kubeconfig elsewhere."""

from pathlib import Path
from typing import Any

from data.errors import ConfigError, RunError

_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def connect() -> Any:
    """Makes a client with the rights of the pod's service account.

    Returns:
        An ``ApiClient`` of the ``kubernetes`` package.

    Raises:
        RunError: there is neither a service account nor a kubeconfig.
    """
    from kubernetes import client, config

    settings = client.Configuration()
    # `retry` pauses between tries; urllib3 would not.
    settings.retries = False
    try:
        config.load_incluster_config(client_configuration=settings)
    except config.ConfigException:
        try:
            config.load_kube_config(client_configuration=settings)
        except config.ConfigException as error:
            raise RunError(
                f"Kubernetes: no service account in this pod, and {error}; mount its "
                "token, or set KUBECONFIG"
            ) from None
    return client.ApiClient(settings)


def namespace_of(given: str | None, file: Path = _NAMESPACE) -> str:
    """Finds the namespace of the job.

    Args:
        given: the configured one.
        file: where Kubernetes tells a pod its own.

    Returns:
        The namespace.

    Raises:
        ConfigError: none is given and the pod is told none.
    """
    if given is not None:
        return given
    try:
        return file.read_text("utf-8").strip()
    except OSError:
        raise ConfigError(
            "kubeflow.training.namespace: needed where the pod has no service account; "
            "set it"
        ) from None

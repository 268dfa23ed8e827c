"""Jobs of one kind in one namespace, over the official client of Kubernetes."""

import time
from collections.abc import Callable
from typing import Any

from data.errors import RunError
from pipeline.kubeflow.training.kinds import JobKind
from pipeline.kubeflow.training.manifest import JOB_FILE
from pipeline.kubeflow.training.refusal import is_unanswered, refusal
from pipeline.kubeflow.training.retry import retried

# Seconds to connect, and between two packets; the client itself would wait for ever.
_TIMEOUT = (10, 60)
_PAUSE_SECONDS = 2.0
# Dependents are given 30 s to end, and the node may be slow.
_GONE_SECONDS = 300.0


class Jobs:
    """Creates, reads and removes jobs; every refusal is one line.

    Args:
        client: an ``ApiClient``.
        kind: of the jobs.
        namespace: of the jobs.
        sleep: waits for seconds.
        clock: seconds.
    """

    def __init__(
        self,
        client: Any,
        kind: JobKind,
        namespace: str,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from kubernetes.client import CoreV1Api, CustomObjectsApi

        self.kind, self.namespace = kind, namespace
        self.sleep, self.clock = sleep, clock
        self._custom, self._core = CustomObjectsApi(client), CoreV1Api(client)
        self._place = (kind.group, kind.version, namespace, kind.plural)

    def create(self, manifest: dict[str, Any]) -> None:
        """Creates a job; one that a killed try of this step left goes first.

        Args:
            manifest: the object.

        Raises:
            RunError: it is refused, or its name is taken by something else.
        """
        name = manifest["metadata"]["name"]
        owned = manifest["metadata"]["annotations"][JOB_FILE]
        if self._create(manifest):
            return
        # It may also have gone since, such as one that was being deleted.
        if self.remove(name, owned) or self.read(name) is None:
            self._wait_until_gone(name)
            if self._create(manifest):
                return
        raise RunError(
            f"Kubernetes: {self.kind.name} {name} in namespace {self.namespace}: the "
            "name is taken by a job of somebody else; delete it, or rename the pipeline"
        )

    def read(self, name: str) -> dict[str, Any] | None:
        """The job as it is now; None if there is none."""
        found: dict[str, Any] | None = self._call(
            "get",
            self._resource,
            lambda: self._custom.get_namespaced_custom_object(
                *self._place, name, _request_timeout=_TIMEOUT
            ),
            none_at=404,
        )
        return found

    def remove(self, name: str, owned: str) -> bool:
        """Deletes a job with its pods, if it is this step's.

        Args:
            name: of the job.
            owned: URI of the job file, by which the step knows its job.

        Returns:
            Whether there was such a job.
        """
        found = self.read(name)
        metadata = (found or {}).get("metadata", {})
        if metadata.get("annotations", {}).get(JOB_FILE) != owned:
            return False
        self._call(
            "delete",
            self._resource,
            lambda: self._custom.delete_namespaced_custom_object(
                *self._place,
                name,
                propagation_policy="Foreground",
                _request_timeout=_TIMEOUT,
            ),
            none_at=404,
        )
        return True

    def pods(self, name: str) -> list[Any]:
        """The pods of a job, as ``V1Pod``."""
        found = self._call(
            "list",
            "pods",
            lambda: self._core.list_namespaced_pod(
                self.namespace,
                label_selector=f"{self.kind.pod_label}={name}",
                _request_timeout=_TIMEOUT,
            ),
        )
        return list(found.items)

    def log(self, pod: str, lines: int) -> list[str]:
        """The last lines that a pod wrote."""
        answer = self._call(
            "get",
            "pods/log",
            # Read raw: the client would take a log for JSON where it looks like it.
            lambda: self._core.read_namespaced_pod_log(
                pod,
                self.namespace,
                tail_lines=lines,
                _preload_content=False,
                _request_timeout=_TIMEOUT,
            ),
        )
        text: str = answer.data.decode("utf-8", "replace")
        return text.splitlines()[-lines:]

    @property
    def _resource(self) -> str:
        """The jobs as RBAC calls them."""
        return f"{self.kind.plural}.{self.kind.group}"

    def _create(self, manifest: dict[str, Any]) -> bool:
        """Creates a job; false if the name is taken."""
        created = self._call(
            "create",
            self._resource,
            lambda: self._custom.create_namespaced_custom_object(
                *self._place, manifest, _request_timeout=_TIMEOUT
            ),
            none_at=409,
        )
        if created is None:
            return False
        # The API server drops fields that the installed release does not know.
        dropped = sorted(set(manifest["spec"]) - set(created["spec"]))
        if dropped:
            raise RunError(
                f"{self.kind.name}: spec.{dropped[0]}: the installed {self.kind.name} "
                f"has no such field; {self.kind.older}"
            )
        return True

    def _wait_until_gone(self, name: str) -> None:
        """Waits for the end of a job that is deleted, and of its pods."""
        end = self.clock() + _GONE_SECONDS
        while self.read(name) is not None:
            if self.clock() > end:
                raise RunError(
                    f"Kubernetes: {self.kind.name} {name} in namespace "
                    f"{self.namespace}: still there {_GONE_SECONDS:.0f} s after its "
                    "deletion; look for finalizers and nodes that are away"
                )
            self.sleep(_PAUSE_SECONDS)

    def _call(
        self,
        verb: str,
        resource: str,
        request: Callable[[], Any],
        none_at: int | None = None,
    ) -> Any:
        """The answer to a request; None where the status says what was expected."""
        from kubernetes.client import ApiException
        from urllib3.exceptions import HTTPError

        try:
            return retried(request, self.sleep, is_unanswered)
        except (ApiException, HTTPError) as error:
            if none_at is not None and getattr(error, "status", None) == none_at:
                return None
            raise refusal(error, self.kind, self.namespace, verb, resource) from None

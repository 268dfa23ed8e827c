"""A compiled pipeline as data: the PipelineSpec and its Kubernetes platform document."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from data.errors import UsageError
from data.settings import YAML_ERRORS, not_yaml


@dataclass(frozen=True)
class Document:
    """Both documents of a file, as JSON objects with the names of the protos.

    Attributes:
        pipeline: the ``PipelineSpec``; the rules change it in place.
        platform: the ``PlatformSpec``; empty if there is none.
        is_job: the file held a ``PipelineJob``, which wraps the spec for Vertex AI.
    """

    pipeline: dict[str, Any]
    platform: dict[str, Any] = field(default_factory=dict)
    is_job: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """Input parameters of a run, by name; read only."""
        definitions: dict[str, Any] = self.pipeline.get("root", {})
        for key in ("inputDefinitions", "parameters"):
            definitions = definitions.get(key, {})
        return definitions

    @property
    def components(self) -> dict[str, Any]:
        """Components by name."""
        components: dict[str, Any] = self.pipeline.get("components", {})
        return components

    @property
    def executors(self) -> dict[str, Any]:
        """Executors by label."""
        deployment: dict[str, Any] = self.pipeline.get("deploymentSpec", {})
        executors: dict[str, Any] = deployment.get("executors", {})
        return executors

    @property
    def kubernetes(self) -> dict[str, Any]:
        """Settings of the pods by executor label; read only."""
        found: dict[str, Any] = self.platform
        for key in ("platforms", "kubernetes", "deploymentSpec", "executors"):
            found = found.get(key, {})
        return found

    def pod(self, label: str) -> dict[str, Any]:
        """Settings of one executor's pod, a ``KubernetesExecutorConfig`` to change."""
        found: dict[str, Any] = self.platform
        for key in ("platforms", "kubernetes", "deploymentSpec", "executors", label):
            found = found.setdefault(key, {})
        return found

    def dags(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each DAG's place and tasks, the root's first."""
        parts = [("root", self.pipeline.get("root", {}))]
        parts += [(f"components.{k}", v) for k, v in sorted(self.components.items())]
        for place, component in parts:
            if "dag" in component:
                yield f"{place}.dag.tasks", component["dag"].get("tasks", {})

    def tasks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each task's place and content."""
        for place, tasks in self.dags():
            for name, task in sorted(tasks.items()):
                yield f"{place}.{name}", task

    def containers(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each container executor's label and container."""
        for label, executor in sorted(self.executors.items()):
            if "container" in executor:
                yield label, executor["container"]

    def component_of(self, task: dict[str, Any]) -> dict[str, Any]:
        """The component that a task runs; empty if the spec lacks it."""
        name = task.get("componentRef", {}).get("name", "")
        component: dict[str, Any] = self.components.get(name, {})
        return component

    def container_of(self, task: dict[str, Any]) -> dict[str, Any] | None:
        """The container that a task runs; None for an importer or a DAG."""
        label = self.component_of(task).get("executorLabel", "")
        container: dict[str, Any] | None = self.executors.get(label, {}).get(
            "container"
        )
        return container

    def to_yaml(self) -> str:
        """Both documents as text, the same for the same content."""
        documents = [self.pipeline, *([self.platform] if self.platform else [])]
        return str(yaml.dump_all(documents, Dumper=_Dumper, sort_keys=True, width=88))


class _Dumper(yaml.SafeDumper):
    """Safe YAML dumper that writes shared objects out, as ``_Loader`` wants them."""

    def ignore_aliases(self, data: Any) -> bool:
        """Takes every object for one that is not shared."""
        del data
        return True


class _Loader(yaml.SafeLoader):
    """Safe YAML loader without aliases: a few of them unfold to any size."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Reads a node, if it is written out."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(
                problem="aliases (*) are not read; write the values out",
                problem_mark=self.peek_event().start_mark,  # type: ignore[no-untyped-call]
            )
        return super().compose_node(parent, index)


def read_document(path: Path) -> Document:
    """Reads a compiled pipeline, whoever compiled it.

    Args:
        path: YAML or JSON of a PipelineSpec, with or without a platform document, or
            of a PipelineJob.

    Returns:
        Its documents.

    Raises:
        UsageError: the file is absent, no YAML, or holds no such document.
    """
    try:
        # The loader is PyYAML's safe one.
        found = list(yaml.load_all(path.read_text("utf-8"), _Loader))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    except YAML_ERRORS as error:
        raise UsageError(f"{path}{not_yaml(error)}") from None
    documents = [_without_nulls(one) for one in found if one is not None]
    if not 1 <= len(documents) <= 2 or not all(isinstance(d, dict) for d in documents):
        raise UsageError(
            f"{path}: must hold a PipelineSpec and at most one platform document"
        )
    pipeline = documents[0]
    is_job = isinstance(pipeline.get("pipelineSpec"), dict)
    if is_job:
        pipeline = pipeline["pipelineSpec"]
    if "pipelineInfo" not in pipeline:
        raise UsageError(
            f"{path}: no PipelineSpec (it has no pipelineInfo); name a file that "
            "`ctr compile` or kfp wrote"
        )
    return Document(pipeline, documents[1] if len(documents) == 2 else {}, is_job)


def _without_nulls(value: Any) -> Any:
    """The same without null members, which protos read as absent."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value

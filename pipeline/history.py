"""Runs and their artifacts, read from ML Metadata."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ml_metadata.proto import metadata_store_pb2 as pb

from data.errors import UsageError, suggest
from pipeline.metadata_store import component_of, open_store


@dataclass(frozen=True)
class NodeRun:
    """One execution of one component.

    Attributes:
        component: node id.
        state: ``complete``, ``failed``, ``cached``, ``running`` ...
        inputs: input key -> URIs.
        outputs: output key -> URIs.
        properties: output key -> custom properties of its first artifact.
    """

    component: str
    state: str
    inputs: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    properties: dict[str, dict[str, Any]] = field(default_factory=dict)


class History:
    """The runs in one ML Metadata database."""

    def __init__(self, database: Path) -> None:
        """Opens the database.

        Args:
            database: SQLite file of ML Metadata.

        Raises:
            UsageError: there is no such file.
            DataError: it is no database of ML Metadata.
        """
        if not database.exists():
            raise UsageError(
                f"{database}: no ML Metadata here; run the pipeline first, or pass "
                "the --root it was run with"
            )
        self._store = open_store(database)

    def run_ids(self) -> list[str]:
        """Ids of all runs, the oldest first."""
        contexts = self._store.get_contexts_by_type("pipeline_run")
        ordered = sorted(contexts, key=lambda context: context.id)
        return [context.name for context in ordered]

    def nodes(self, run_id: str) -> list[NodeRun]:
        """The executions of one run in order of their start.

        Args:
            run_id: as ``run_ids`` gives it.

        Returns:
            One entry an execution.

        Raises:
            UsageError: no such run.
        """
        context = self._store.get_context_by_type_and_name("pipeline_run", run_id)
        if context is None:
            raise UsageError(
                f"no run '{run_id}'.{suggest(run_id, self.run_ids())} "
                "`ctr runs list` shows them"
            )
        executions = self._store.get_executions_by_context(context.id)
        return [
            self._node(execution)
            for execution in sorted(executions, key=lambda execution: execution.id)
        ]

    def _node(self, execution: pb.Execution) -> NodeRun:
        """One execution with its artifacts."""
        node = NodeRun(
            component=component_of(self._store, execution),
            state=pb.Execution.State.Name(execution.last_known_state).lower(),
        )
        events = self._store.get_events_by_execution_ids([execution.id])
        artifacts = {
            artifact.id: artifact
            for artifact in self._store.get_artifacts_by_id(
                [event.artifact_id for event in events]
            )
        }
        for event in events:
            artifact = artifacts[event.artifact_id]
            is_output = event.type in (pb.Event.OUTPUT, pb.Event.DECLARED_OUTPUT)
            key = next(s.key for s in event.path.steps if s.HasField("key"))
            uris = (node.outputs if is_output else node.inputs).setdefault(key, [])
            uris.append(artifact.uri)
            if is_output:
                node.properties.setdefault(key, _custom_properties(artifact))
        return node


def _custom_properties(artifact: pb.Artifact) -> dict[str, Any]:
    """Custom properties as plain values."""
    return {
        name: getattr(value, value.WhichOneof("value"))
        for name, value in artifact.custom_properties.items()
    }

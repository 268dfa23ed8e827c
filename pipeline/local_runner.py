"""Runs the pipeline on this machine and measures each component."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfx.dsl.compiler import constants
from tfx.orchestration import metadata
from tfx.orchestration.local import runner_utils
from tfx.orchestration.local.local_dag_runner import LocalDagRunner
from tfx.orchestration.portable import launcher, runtime_parameter_utils
from tfx.proto.orchestration import pipeline_pb2

from components.example_gen.run import LOCAL_RUNNER, user_error
from data.disk_faults import disk_error
from data.errors import CtrError, RunError
from pipeline.observer import Observer
from pipeline.usage import Usage, measured

LOCAL_BEAM_ARGS = [
    LOCAL_RUNNER,
    # The runner works in this process and starts no container. Naming one keeps TFX
    # from building a source package of itself for each Beam component, seconds each.
    "--sdk_container_image=none",
]


@dataclass(frozen=True)
class Folders:
    """Where a pipeline lives on disk: ``<root>/<name>/...``."""

    base: Path

    @property
    def metadata(self) -> Path:
        """SQLite database of ML Metadata."""
        return self.base / "metadata.db"

    @property
    def artifacts(self) -> Path:
        """Artifacts of all runs, by component and execution."""
        return self.base / "artifacts"

    @property
    def serving(self) -> Path:
        """Pushed versions."""
        return self.base / "serving"

    @property
    def checkpoints(self) -> Path:
        """What a killed training goes on from, by its data and settings."""
        return self.base / "checkpoints"

    @property
    def reports(self) -> Path:
        """One JSON file a run."""
        return self.base / "reports"


class MeasuredDagRunner(LocalDagRunner):
    """``LocalDagRunner`` that tells an observer of each component and its cost.

    The stock runner has no hook between components, so this repeats its loop.
    """

    def __init__(self, observer: Observer) -> None:
        super().__init__()
        self._observer = observer
        self.run_id = self._root = ""

    def run_with_ir(
        self, pipeline: pipeline_pb2.Pipeline, run_options: Any = None
    ) -> None:
        """Runs every node in order.

        Args:
            pipeline: compiled pipeline.
            run_options: not supported.

        Raises:
            RunError: a component failed.
        """
        assert run_options is None
        self.run_id = datetime.datetime.now().isoformat()
        runtime_parameter_utils.substitute_runtime_parameter(
            pipeline, {constants.PIPELINE_RUN_ID_PARAMETER_NAME: self.run_id}
        )
        deployment = runner_utils.extract_local_deployment_config(pipeline)
        connections = deployment.metadata_connection_config
        connection = getattr(connections, connections.WhichOneof("connection_config"))
        self._root = pipeline.runtime_spec.pipeline_root.field_value.string_value
        for node in pipeline.nodes:
            node_id = node.pipeline_node.node_info.id
            self._launch(
                node_id,
                launcher.Launcher(
                    pipeline_node=node.pipeline_node,
                    mlmd_connection=metadata.Metadata(connection),
                    pipeline_info=pipeline.pipeline_info,
                    pipeline_runtime_spec=pipeline.runtime_spec,
                    executor_spec=runner_utils.extract_executor_spec(
                        deployment, node_id
                    ),
                    custom_driver_spec=runner_utils.extract_custom_driver_spec(
                        deployment, node_id
                    ),
                ).launch,
            )

    def _launch(self, node_id: str, launch: Callable[[], Any]) -> None:
        """Runs one node under measurement."""
        self._observer.started(node_id)
        usage, failed = Usage(), True
        try:
            with measured() as usage:
                launch()
            failed = False
        except CtrError:
            raise
        except Exception as error:
            raise RunError(f"{node_id} failed: {reason(error, self._root)}") from error
        finally:
            self._observer.ended(node_id, usage, failed)


def reason(error: BaseException, place: str = "") -> str:
    """What a component's error says in one line: our own, or the disk's, inside it.

    Args:
        error: what was raised.
        place: what the component wrote to.

    Returns:
        The line.
    """
    own = user_error(error) or disk_error(error, place)
    if own is not None:
        return str(own)
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"


def sqlite_connection(path: Path) -> Any:
    """Connection to ML Metadata in a SQLite file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return metadata.sqlite_metadata_connection_config(str(path))

"""Cleans up after runs that were killed, before the next one starts.

TFX registers artifacts when a component has ended. A run that was killed leaves an
execution that seems to run for ever, and a folder that no artifact names. Both go here,
under the lock of the folder, so none of them belongs to a run that is alive.
"""

import shutil
from pathlib import Path

from ml_metadata.proto import metadata_store_pb2 as pb

from data.errors import DataError
from pipeline.metadata_store import component_of, open_store

_UNFINISHED = (pb.Execution.NEW, pb.Execution.RUNNING)


def recover(database: Path, artifacts: Path) -> list[str]:
    """Marks executions of killed runs as failed and removes what they had written.

    Args:
        database: SQLite file of ML Metadata; nothing is done where there is none.
        artifacts: folder of all artifacts.

    Returns:
        Components that were at work when a run was killed.

    Raises:
        DataError: the file is no database of ML Metadata, or an empty one.
    """
    if not database.exists():
        return []
    if not database.stat().st_size:
        # What a run leaves that was killed at its very start.
        if artifacts.is_dir() and any(artifacts.iterdir()):
            raise DataError(
                f"{database}: empty, though {artifacts} holds artifacts; restore it from "
                "a backup, or move both away to begin a new history"
            )
        return []
    store = open_store(database)
    unfinished = [
        one for one in store.get_executions() if one.last_known_state in _UNFINISHED
    ]
    names = []
    for execution in unfinished:
        name = component_of(store, execution)
        for folder in _folders(artifacts / name, execution.id):
            shutil.rmtree(folder)
        execution.last_known_state = pb.Execution.FAILED
        names.append(name)
    store.put_executions(unfinished)
    return names


def _folders(component: Path, execution: int) -> list[Path]:
    """Folders of one execution: one an output, and TFX's own."""
    return [
        folder
        for depth in ("*", ".system/*")
        for folder in component.glob(f"{depth}/{execution}")
        if folder.is_dir()
    ]

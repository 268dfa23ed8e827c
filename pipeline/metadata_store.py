"""The database of ML Metadata under a pipeline's folder."""

import contextlib
import sqlite3
from pathlib import Path

import ml_metadata as mlmd
from ml_metadata.proto import metadata_store_pb2 as pb

from data.disk_faults import disk_error
from data.errors import DataError


def open_store(database: Path) -> mlmd.MetadataStore:
    """Opens ML Metadata.

    Args:
        database: its SQLite file.

    Returns:
        The store.

    Raises:
        DataError: the file is no database of ML Metadata, or damaged.
        RunError: the disk is full, or rights are missing.
    """
    config = pb.ConnectionConfig()
    config.sqlite.filename_uri = str(database)
    config.sqlite.connection_mode = pb.SqliteMetadataSourceConfig.READWRITE_OPENCREATE
    try:
        _check(database)
        return mlmd.MetadataStore(config)
    except (RuntimeError, sqlite3.Error, mlmd.errors.StatusError) as error:
        if fault := disk_error(error, str(database)):
            raise fault from None
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{database}: ML Metadata cannot be read: {reason}; restore it from a "
            "backup, or move it away to begin a new history"
        ) from None


def _check(database: Path) -> None:
    """Reads the whole file: ML Metadata would notice damage late, or write into it."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)


def component_of(store: mlmd.MetadataStore, execution: pb.Execution) -> str:
    """Node id of an execution, from its context of type ``node``.

    Args:
        store: where it is.
        execution: of a component.

    Returns:
        The id.
    """
    for context in store.get_contexts_by_execution(execution.id):
        if context.type == "node":
            return str(context.name).split(".", 1)[1]
    return str(execution.type)

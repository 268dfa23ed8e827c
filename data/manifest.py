"""What an ingest wrote: rows, clicks, bytes and checksum of every shard.

The manifest stands beside the ``Split-*`` folders, never inside: TFX reads every file
in them as data.
"""

import json
from collections.abc import Iterable

import pydantic

from data import paths
from data.errors import DataError
from data.settings import Settings

MANIFEST_FILE = "manifest.json"
QUARANTINE_FILE = "quarantine.jsonl"
VERSION = 1


class Shard(Settings):
    """One file of a split.

    Attributes:
        file: path relative to the manifest.
        rows: number of rows.
        clicks: rows with label 1.
        bytes: size of the file.
        payload_bytes: size of its uncompressed records.
        crc32c: CRC32C of the uncompressed records.
    """

    file: str
    rows: int
    clicks: int
    bytes: int
    payload_bytes: int
    crc32c: int

    @pydantic.field_validator("file")
    @classmethod
    def _stays_below(cls, file: str) -> str:
        """Refuses a path that leaves the folder of the manifest."""
        if file.startswith("/") or "://" in file or ".." in file.split("/"):
            raise ValueError("must lie below the folder of the manifest")
        return file


class TimeSpan(Settings):
    """First and last time of impression, unix seconds."""

    first: int
    last: int


class Split(Settings):
    """The shards of one split."""

    rows: int
    clicks: int
    time: TimeSpan | None = None
    shards: tuple[Shard, ...]


class Manifest(Settings):
    """Everything that an ingest read and wrote.

    Attributes:
        version: of this format.
        dataset: name of the configuration.
        layout: name of the layout that the files had.
        rows_read: rows found in the input.
        rows_written: rows in all shards.
        rows_quarantined: rows put aside, each with its reason.
        quarantined: how many rows each reason put aside.
        notices: what was skipped or odd, but did not stop the ingest.
        splits: by name.
    """

    version: int = VERSION
    dataset: str = ""
    layout: str = ""
    rows_read: int
    rows_written: int
    rows_quarantined: int
    quarantined: dict[str, int] = pydantic.Field(default_factory=dict)
    notices: tuple[str, ...] = ()
    splits: dict[str, Split]


def read_manifest(folder: str) -> Manifest:
    """Reads the manifest in a folder.

    Args:
        folder: the folder that holds the ``Split-*`` folders.

    Returns:
        The manifest.

    Raises:
        DataError: it is absent or damaged.
    """
    path = f"{folder.rstrip('/')}/{MANIFEST_FILE}"
    if not paths.exists(path):
        raise DataError(f"{path}: no manifest; it is written by ctr ingest and ctr run")
    try:
        with paths.open_read(path) as file:
            return Manifest.model_validate_json(file.read())
    except pydantic.ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise DataError(f"{path}: damaged at '{place}': {fault['msg']}") from None


def write_manifest(folder: str, manifest: Manifest) -> None:
    """Writes the manifest into a folder, complete or not at all.

    Args:
        folder: the folder that holds the ``Split-*`` folders.
        manifest: what to write.
    """
    path = f"{folder.rstrip('/')}/{MANIFEST_FILE}"
    text = json.dumps(manifest.model_dump(mode="json"), indent=1) + "\n"
    with paths.open_write(path + ".tmp") as file:
        file.write(text.encode())
    paths.rename(path + ".tmp", path)


def make_split(shards: Iterable[Shard], time: TimeSpan | None) -> Split:
    """A split from its shards, in the order of their file names.

    Args:
        shards: in any order.
        time: first and last time of its rows.

    Returns:
        The split with its totals.
    """
    ordered = tuple(sorted(shards, key=lambda shard: shard.file))
    return Split(
        rows=sum(shard.rows for shard in ordered),
        clicks=sum(shard.clicks for shard in ordered),
        time=time,
        shards=ordered,
    )

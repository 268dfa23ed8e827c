"""What an ingest wrote: rows, clicks, bytes and checksum of every shard.

The manifest stands beside the ``Split-*`` folders, never inside: TFX reads every file
in them as data.
"""

import json
import posixpath
import re
from collections.abc import Iterable

import pydantic

from data import paths
from data.errors import DataError
from data.faults import fault_lines
from data.settings import Settings

MANIFEST_FILE = "manifest.json"
QUARANTINE_FILE = "quarantine.jsonl"
VERSION = 1
_SPLIT_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Shard(Settings):
    """One file of a split.

    Attributes:
        file: path relative to the manifest.
        rows: number of rows.
        clicks: rows with label 1, as counted when it was written.
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

    @pydantic.model_validator(mode="after")
    def _counts_fit(self) -> "Shard":
        """Refuses counts that no rows have."""
        if not 0 <= self.clicks <= self.rows:
            raise ValueError(f"clicks {self.clicks} of {self.rows} rows")
        return self


class TimeSpan(Settings):
    """First and last time of impression, unix seconds."""

    first: int
    last: int


class Split(Settings):
    """The shards of one split.

    Attributes:
        rows: sum over its shards.
        clicks: sum over its shards.
        time: None where the rows have no time of impression.
        shards: in the order of their file names.
    """

    rows: int
    clicks: int
    time: TimeSpan | None = None
    shards: tuple[Shard, ...]

    @pydantic.model_validator(mode="after")
    def _adds_up(self) -> "Split":
        """Refuses totals that are not those of the shards."""
        _equal("rows", self.rows, sum(shard.rows for shard in self.shards))
        _equal("clicks", self.clicks, sum(shard.clicks for shard in self.shards))
        return self


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

    @pydantic.field_validator("version")
    @classmethod
    def _is_known(cls, version: int) -> int:
        """Refuses a format that this code does not read."""
        if version != VERSION:
            raise ValueError(f"must be {VERSION}, got {version}; ingest the log again")
        return version

    @pydantic.model_validator(mode="after")
    def _adds_up(self) -> "Manifest":
        """Refuses totals that are not those of the splits and the reasons."""
        written = sum(split.rows for split in self.splits.values())
        _equal("rows_written", self.rows_written, written)
        aside = sum(self.quarantined.values())
        _equal("rows_quarantined", self.rows_quarantined, aside)
        _equal("rows_read", self.rows_read, written + aside)
        return self

    @pydantic.model_validator(mode="after")
    def _files_are_in_their_splits(self) -> "Manifest":
        """Refuses a file outside the folder of its split, or listed twice."""
        seen: set[str] = set()
        for name, split in self.splits.items():
            if not _SPLIT_NAME.fullmatch(name):
                raise ValueError(f"split {name!r}: must be letters, digits, _ or -")
            for shard in split.shards:
                folder, file = posixpath.split(shard.file)
                if folder != f"Split-{name}" or file in ("", "."):
                    raise ValueError(f"{shard.file!r}: must lie in Split-{name}")
                if shard.file in seen:
                    raise ValueError(f"{shard.file!r}: listed twice")
                seen.add(shard.file)
        return self


def _equal(name: str, found: int, expected: int) -> None:
    """Refuses a total that is not the sum of its parts."""
    if found != expected:
        raise ValueError(f"{name}: must be {expected} by its parts, got {found}")


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
        fault, *_ = fault_lines(Manifest, error.errors())
        raise DataError(f"{path}: damaged: {fault}") from None


def write_manifest(folder: str, manifest: Manifest) -> None:
    """Writes the manifest into a folder, complete or not at all.

    Args:
        folder: the folder that holds the ``Split-*`` folders.
        manifest: what to write.
    """
    path = f"{folder.rstrip('/')}/{MANIFEST_FILE}"
    text = json.dumps(manifest.model_dump(mode="json"), indent=1) + "\n"
    paths.write_whole(path, text.encode())


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

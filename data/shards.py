"""Shards of tf.Examples: TFRecord files that are written once and verified.

Neither tf.data nor Beam reports a GZIP file that was cut at a flush point: both read
the rows before the cut as if they were all. So shards are checked before use.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

import google_crc32c
from isal import isal_zlib

from data import paths
from data.disk_faults import disk_error
from data.errors import DataError
from data.manifest import MANIFEST_FILE, Shard, read_manifest
from data.packed import record_rows
from data.records import (
    CHUNK_BYTES,
    GZIP_MAGIC,
    ZLIB_MAGICS,
    RecordError,
    inflate,
    read_records,
    starts_plain,
)

# Of ISA-L's levels 0 to 3. Measured on rows of 26 ids and 3 lists: a quarter of the CPU
# of zlib's level 1, for smaller files.
COMPRESSION_LEVEL = 2


class ShardWriter:
    """Writes one TFRecord file; it gets its name when it is complete.

    Equal records give equal bytes on equal processors: the gzip header holds no time and
    no name, but ISA-L compresses by what a processor can do.
    """

    def __init__(self, folder: str, file: str, *, compress: bool = True) -> None:
        """Opens a temporary file beside the split folders.

        Args:
            folder: the folder of the manifest.
            file: path of the shard below it, such as ``Split-train/data-00000.gz``.
            compress: GZIP, else no compression.
        """
        self._target = f"{folder.rstrip('/')}/{file}"
        self._file = file
        scratch = f"{folder.rstrip('/')}/_writing"
        self._scratch = f"{scratch}/{file.replace('/', '_')}"
        self._stream = paths.open_write(self._scratch)
        self._encoder = (
            isal_zlib.compressobj(COMPRESSION_LEVEL, wbits=31) if compress else None
        )
        self._rows = self._clicks = self._bytes = self._payload_bytes = self._crc = 0

    def write(self, framed: bytes, rows: int, clicks: int) -> None:
        """Appends records.

        Args:
            framed: consecutive records, as ``data.records.frame_all`` makes them.
            rows: how many rows they hold.
            clicks: how many of these have label 1.
        """
        self._crc = google_crc32c.extend(self._crc, framed)
        self._payload_bytes += len(framed)
        self._rows += rows
        self._clicks += clicks
        self._put(self._encoder.compress(framed) if self._encoder else framed)

    def close(self) -> Shard:
        """Ends the file and gives it its name.

        Returns:
            What the manifest says about it.
        """
        if self._encoder:
            self._put(self._encoder.flush())
        self._stream.close()
        paths.make_dirs(posixpath.dirname(self._target))
        paths.rename(self._scratch, self._target)
        return Shard(
            file=self._file,
            rows=self._rows,
            clicks=self._clicks,
            bytes=self._bytes,
            payload_bytes=self._payload_bytes,
            crc32c=self._crc,
        )

    def __enter__(self) -> "ShardWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()

    def _put(self, stored: bytes) -> None:
        self._bytes += len(stored)
        self._stream.write(stored)


@dataclass(frozen=True, kw_only=True)
class ShardContent:
    """What a shard really holds.

    Attributes:
        rows: number of rows; of a packed record those that its header states.
        payload_bytes: size of the uncompressed records.
        crc32c: CRC32C of the uncompressed records.
    """

    rows: int
    payload_bytes: int
    crc32c: int


def verify_shard(path: str) -> ShardContent:
    """Reads a whole TFRecord file, plain or GZIP, and checks every checksum.

    Args:
        path: the file.

    Returns:
        Its rows and the checksum of its content.

    Raises:
        DataError: the file is cut or damaged; the message names file, record, offset.
    """
    crc = payload_bytes = rows = 0

    def counted(chunks: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal crc, payload_bytes
        for chunk in chunks:
            crc = google_crc32c.extend(crc, chunk)
            payload_bytes += len(chunk)
            yield chunk

    try:
        records = read_records(counted(payload_chunks(path)), path)
        for number, offset, record in records:
            if isinstance(record, RecordError):
                raise record
            try:
                rows += record_rows(record)
            except DataError as error:
                raise RecordError(path, number, offset, str(error)) from None
    except RecordError:
        raise
    except DataError as error:
        raise DataError(f"{error}; {rows} rows readable, none used") from None
    return ShardContent(rows=rows, payload_bytes=payload_bytes, crc32c=crc)


def payload_chunks(path: str) -> Iterator[bytes]:
    """Uncompressed bytes of a plain, GZIP or ZLIB file.

    Args:
        path: the file.

    Yields:
        Pieces of about a mebibyte.

    Raises:
        DataError: the GZIP stream is cut or damaged.
    """
    with paths.open_read(path) as file:
        head = file.read(CHUNK_BYTES)

        def chunks() -> Iterator[bytes]:
            chunk = head
            while chunk:
                yield chunk
                chunk = file.read(CHUNK_BYTES)

        if head[:2] == GZIP_MAGIC:
            yield from inflate(chunks(), path)
        elif head[:2] in ZLIB_MAGICS and not starts_plain(head):
            yield from inflate(chunks(), path, wbits=15)
        else:
            yield from chunks()


def verify_manifest(folder: str) -> Iterator[tuple[str, str | None]]:
    """Checks every shard of a folder against its manifest.

    Rows, sizes and checksums are counted again. Clicks are not: which feature is the
    label is not in the manifest, so only their sums are checked, as it is read.

    Args:
        folder: the folder that holds the ``Split-*`` folders.

    Yields:
        For each shard its file and what is wrong with it, or None.

    Raises:
        DataError: the manifest is absent or damaged.
    """
    manifest = read_manifest(folder)
    listed = {
        shard.file: shard
        for split in manifest.splits.values()
        for shard in split.shards
    }
    for file, shard in sorted(listed.items()):
        yield file, shard_fault(f"{folder.rstrip('/')}/{file}", shard)
    for file in paths.walk(folder):
        if file.startswith("Split-") and file not in listed:
            yield file, f"not listed in {MANIFEST_FILE}"


def shard_fault(path: str, expected: Shard | None = None) -> str | None:
    """What is wrong with a shard, also that it cannot be read.

    Args:
        path: the file.
        expected: what its manifest says, if there is one.

    Returns:
        The fault, or None.
    """
    try:
        if not paths.exists(path):
            return "absent"
        found = verify_shard(path)
    except (DataError, OSError) as error:
        return str(disk_error(error) or error).removeprefix(f"{path}: ")
    if expected is None:
        return None
    for name in ("rows", "payload_bytes", "crc32c"):
        if getattr(found, name) != getattr(expected, name):
            return (
                f"{name} {getattr(found, name)} found, "
                f"{getattr(expected, name)} in {MANIFEST_FILE}"
            )
    if (size := paths.size(path)) != expected.bytes:
        return f"bytes {size} found, {expected.bytes} in {MANIFEST_FILE}"
    return None

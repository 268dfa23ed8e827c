"""Writing and recognising files of packed blocks."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from data import paths
from data.arrays import Values
from data.errors import DataError
from data.manifest import Shard, read_manifest
from data.packed import BLOCK_ROWS, PackedLayout, read_header
from data.packed_encoding import encode_block
from data.records import RecordError, frame, read_records
from data.shards import ShardWriter, payload_chunks


def write_packed(
    folder: str,
    file: str,
    layout: PackedLayout,
    batches: Iterable[Mapping[str, Values]],
    label: str,
    *,
    compress: bool = True,
) -> Shard:
    """Writes one packed shard.

    Args:
        folder: the folder of the manifest.
        file: path of the shard below it.
        layout: what to store.
        batches: rows in order, as ``encode_block`` takes them; of any size.
        label: column that counts as clicks.
        compress: GZIP, else no compression.

    Returns:
        What the manifest says about the shard.

    Raises:
        DataError: a value does not fit the type of its column.
    """
    with ShardWriter(folder, file, compress=compress) as writer:
        for block in blocks_of(layout, batches):
            labels = block[label]
            framed = frame(encode_block(layout, block))
            writer.write(framed, len(labels), int(np.count_nonzero(labels)))
        return writer.close()


def blocks_of(
    layout: PackedLayout, batches: Iterable[Mapping[str, Values]]
) -> Iterator[dict[str, Values]]:
    """The same rows in blocks of ``BLOCK_ROWS``, the last one with what is left."""
    names = [column.name for column in layout.columns]
    rest: dict[str, Values] | None = None
    for batch in batches:
        rows = {
            name: np.concatenate([rest[name], batch[name]]) if rest else batch[name]
            for name in names
        }
        count = len(rows[names[0]])
        whole = count - count % BLOCK_ROWS
        for start in range(0, whole, BLOCK_ROWS):
            yield {name: rows[name][start : start + BLOCK_ROWS] for name in names}
        rest = {name: rows[name][whole:] for name in names}
    if rest and len(rest[names[0]]):
        yield rest


def read_layout(path: str) -> PackedLayout | None:
    """Layout of a packed file.

    Args:
        path: a TFRecord file, plain or GZIP.

    Returns:
        The layout of its first block; None for a file without records, and for one
        whose records are no packed blocks.

    Raises:
        DataError: the first record is damaged or of another version of the format.
    """
    for _, _, record in read_records(payload_chunks(path), path):
        if isinstance(record, RecordError):
            raise record
        try:
            header = read_header(record)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        return header[0] if header else None
    return None


def packed_files(folder: str) -> list[str]:
    """The shards of a split, after a look at their sizes.

    A GZIP file that was cut reads as if it were whole; its size gives it away at no
    cost. Damage inside a file is found by the checksums of its records.

    Args:
        folder: a ``Split-*`` folder beside its manifest.

    Returns:
        Paths in the order of their names.

    Raises:
        DataError: names the first shard that is absent or has another size than when
            it was written.
    """
    base, name = posixpath.split(folder.rstrip("/"))
    split = read_manifest(base).splits[name.removeprefix("Split-")]
    files = []
    for shard in split.shards:
        path = f"{base}/{shard.file}"
        if not paths.exists(path):
            raise DataError(f"{path}: absent, though in the manifest; pack again")
        if (found := paths.size(path)) != shard.bytes:
            raise DataError(
                f"{path}: {found} bytes, {shard.bytes} in the manifest: the file was "
                "cut or changed; pack again"
            )
        files.append(path)
    return files

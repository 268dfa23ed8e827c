"""Exact counts of equal rows in a memory that does not grow with the log.

Each row becomes a hash of 128 bits. Hashes go to files by their first bits, so equal
ones meet in the same file, and one file at a time is sorted. Among 2^30 rows two
different ones are taken for equal with a probability of 2^59 / 2^128.
"""

import hashlib
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from data.arrays import Ints

Hashes = npt.NDArray[np.uint64]

HASH_BYTES = 16
# Of 100 million rows a file has 25 MB.
PARTITION_BITS = 6


@dataclass(frozen=True)
class Repeats:
    """Rows of a split that came before.

    Attributes:
        rows: all rows.
        repeated: rows that are equal to an earlier one of the split.
        in_train: rows that are equal to a training row; 0 for the training rows.
    """

    rows: int
    repeated: int
    in_train: int


class RepeatCounter:
    """Takes the rows of several splits, then counts.

    A context manager: its files, 16 bytes a row in the system's temporary folder, go
    when it ends.
    """

    def __init__(self, splits: Iterable[str]) -> None:
        """Makes the folder.

        Args:
            splits: names of the splits, ``train`` among them.
        """
        self._splits = tuple(splits)
        self._folder = tempfile.TemporaryDirectory(prefix="ctr-repeats-")

    def __enter__(self) -> "RepeatCounter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def add(self, split: str, rows: Iterable[bytes]) -> None:
        """Takes rows.

        Args:
            split: their split.
            rows: equal bytes for equal rows.
        """
        digests = [
            hashlib.blake2b(row, digest_size=HASH_BYTES).digest() for row in rows
        ]
        hashes = np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)
        parts = hashes[:, 0] >> np.uint64(64 - PARTITION_BITS)
        hashes = hashes[np.argsort(parts, kind="stable")]
        ends = np.cumsum(np.bincount(parts.astype(np.int64)))
        for part, piece in enumerate(np.split(hashes, ends[:-1])):
            if len(piece):
                with self._file(split, part).open("ab") as file:
                    piece.tofile(file)

    def count(self) -> dict[str, Repeats]:
        """Counts over all rows that were added, by split."""
        totals = np.zeros((len(self._splits), 3), np.int64)
        for part in range(1 << PARTITION_BITS):
            totals += self._count_part(part)
        return {
            split: Repeats(*(int(one) for one in row))
            for split, row in zip(self._splits, totals, strict=True)
        }

    def _count_part(self, part: int) -> Ints:
        """Rows, repeated rows and rows in train of one partition, [splits, 3]."""
        pieces = [self._read(split, part) for split in self._splits]
        hashes = np.concatenate(pieces)
        owners = np.repeat(np.arange(len(pieces)), [len(one) for one in pieces])
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        hashes, owners = hashes[order], owners[order]
        is_new = np.ones(len(hashes), np.bool_)
        is_new[1:] = (hashes[1:] != hashes[:-1]).any(axis=1)
        groups = np.cumsum(is_new) - 1
        counts = [
            np.bincount(groups[owners == split], minlength=int(is_new.sum()))
            for split in range(len(pieces))
        ]
        in_train = counts[self._splits.index("train")] > 0
        totals: Ints = np.asarray(
            [
                (
                    one.sum(),
                    one.sum() - np.count_nonzero(one),
                    0 if split == "train" else one[in_train].sum(),
                )
                for split, one in zip(self._splits, counts, strict=True)
            ],
            np.int64,
        )
        return totals

    def _read(self, split: str, part: int) -> Hashes:
        """Hashes of a split in a partition."""
        file = self._file(split, part)
        if not file.exists():
            return np.empty((0, 2), np.uint64)
        return np.fromfile(file, np.uint64).reshape(-1, 2)

    def _file(self, split: str, part: int) -> Path:
        return Path(self._folder.name, f"{split}-{part:02d}")

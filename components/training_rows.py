"""Which packed rows the Trainer reads, and how workers share them."""

import dataclasses
import hashlib
import json
import posixpath
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from components.config import TrainConfig
from components.packed_input_fn import dataset as read_dataset
from components.preprocessing import LABEL, USER, WEIGHT
from components.worker_batches import WorkerBatches, by_files, by_rows
from data.dataset import Dataset
from data.inputs import ModelInput
from data.manifest import Shard, read_manifest
from data.packed_shards import packed_files
from data.paths import is_remote
from data.staging import StagedFiles

# Without gradients a large batch fits, and fewer batches cost less each.
VALIDATION_BATCH = 8192


@dataclasses.dataclass(frozen=True, kw_only=True)
class PackedSplit:
    """The packed shards of a split.

    Attributes:
        files: their paths.
        shards: what the manifest says about each.
    """

    files: tuple[str, ...] = ()
    shards: tuple[Shard, ...] = ()

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "PackedSplit":
        """The shards below TFX's patterns, ``<artifact>/Split-<name>/*``.

        Raises:
            DataError: a shard is absent or has another size than its manifest says.
        """
        files: list[str] = []
        shards: list[Shard] = []
        for folder in map(posixpath.dirname, patterns):
            files += packed_files(folder)
            base, name = posixpath.split(folder)
            manifest = read_manifest(base)
            shards += manifest.splits[name.removeprefix("Split-")].shards
        return cls(files=tuple(files), shards=tuple(shards))


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingRows:
    """Reads the rows of a training.

    Attributes:
        dataset: the declaration.
        inputs: what the model reads.
        config: batch size, shuffling, seed.
        train: shards to train on.
        held_out: shards to validate on; none where no validation split is declared.
    """

    dataset: Dataset
    inputs: tuple[ModelInput, ...]
    config: TrainConfig
    train: PackedSplit
    held_out: PackedSplit

    @property
    def files(self) -> list[str]:
        """All shards that are read."""
        return [*self.train.files, *self.held_out.files]

    def epoch(self, epoch: int) -> tf.data.Dataset:
        """Global batches of an epoch."""
        return self._read(epoch, list(self.train.files), self.config.batch_size)

    def worker_batches(self) -> WorkerBatches:
        """What the training loop reads, shared between workers as configured."""
        if self.config.read_by == "rows":
            return by_rows(self.epoch)
        rows = [shard.rows for shard in self.train.shards]
        files = list(zip(self.train.files, rows, strict=True))
        return by_files(files, self.config.batch_size, self._read)

    def validation(self) -> tf.data.Dataset | None:
        """Batches of the validation rows, None where none are declared."""
        if not self.held_out.files:
            return None
        return read_dataset(
            self._staged(self.held_out.files, self.held_out),
            self.inputs,
            LABEL,
            WEIGHT if self.dataset.keys.weight else None,
            USER if self.dataset.keys.user_id else None,
            batch_size=VALIDATION_BATCH,
        )

    def fingerprint(self, *settings: Any) -> str:
        """A name for this content: equal rows and settings give equal names.

        Args:
            settings: further values that JSON can hold.

        Returns:
            16 hexadecimal digits.
        """
        content = [
            self.dataset.model_dump_json(),
            # Staging changes no row: a restart may raise its limit.
            self.config.model_dump_json(exclude={"staging"}),
            [one.model_dump_json() for one in self.inputs],
            [(one.file, one.crc32c) for one in self.train.shards],
            [(one.file, one.crc32c) for one in self.held_out.shards],
            settings,
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def _read(self, epoch: int, files: list[str], batch_size: int) -> tf.data.Dataset:
        """Batches of some of the shards."""
        return read_dataset(
            self._staged(files, self.train),
            self.inputs,
            LABEL,
            WEIGHT if self.dataset.keys.weight else None,
            batch_size=batch_size,
            shuffle_rows=self.config.shuffle_rows,
            seed=self.config.seed,
            epoch=epoch,
        )

    def _staged(self, files: Sequence[str], split: PackedSplit) -> Sequence[str]:
        """The files, to be read from local copies where that is configured."""
        staging = self.config.staging
        is_staged = staging.when == "always" or (
            staging.when == "remote" and any(map(is_remote, files))
        )
        if not is_staged:
            return files
        stored = [shard.bytes for shard in split.shards]
        sizes = dict(zip(split.files, stored, strict=True))
        return StagedFiles(
            files=tuple(files),
            sizes=tuple(sizes[path] for path in files),
            folder=staging.folder,
            limit_bytes=int(staging.limit_gib * 2**30),
        )

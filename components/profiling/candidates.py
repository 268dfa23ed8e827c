"""The settings worth trying: those that change the speed and not the network."""

import dataclasses
import functools
from collections.abc import Sequence

import tensorflow as tf

from components.config import TrainConfig
from components.profiling.advice import Change, Tried
from components.profiling.sample import reread, row_count, stored_bytes
from components.profiling.timing import ROUNDS
from components.profiling.training import LoopCost, Training
from components.training_rows import TrainingRows
from models.config import ModelConfig

_FACTOR = 4


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A change, and the training with it.

    Attributes:
        change: the setting.
        rows: what the loop then reads.
        training: the step that it then takes.
    """

    change: Change
    rows: TrainingRows
    training: Training

    @functools.cached_property
    def batches(self) -> tf.data.Dataset:
        """What the loop reads, without end."""
        return self.rows.epoch(0).repeat()


def candidates(
    rows: TrainingRows,
    plain: TrainingRows | None,
    training: Training,
    model: ModelConfig,
    has_accelerator: bool,
) -> list[Candidate]:
    """Lists what can be changed about a training.

    Args:
        rows: what it reads.
        plain: the same without compression; None where it has none anyway.
        training: its step.
        model: the network.
        has_accelerator: whether a lower precision can pay.

    Returns:
        Left out is what this training has already, or has too few rows for.
    """
    config = rows.config
    found = []
    batch = config.batch_size * _FACTOR
    if batch <= row_count(rows):
        change = Change("train.batch_size", config.batch_size, batch, _price(config))
        found.append(Candidate(change, reread(rows, batch_size=batch), training))
    if plain is not None:
        size = stored_bytes(plain.train.files) / stored_bytes(rows.train.files)
        price = f"the packed shards take {size:.1f} times the space"
        change = Change("packing.compression", "gzip", "none", price)
        found.append(Candidate(change, plain, training))
    window = config.shuffle_rows // _FACTOR
    # A window of all rows is as large as one of more.
    if 0 < window < row_count(rows):
        price = "rows of a shard are mixed less"
        change = Change("train.shuffle_rows", config.shuffle_rows, window, price)
        found.append(Candidate(change, reread(rows, shuffle_rows=window), training))
    if has_accelerator and config.precision == "float32":
        price = "layers compute with 8 significant bits: compare GAUC and PCOP first"
        change = Change("train.precision", "float32", "bfloat16", price)
        found.append(Candidate(change, rows, Training(rows, model, "bfloat16")))
    return found


def race(
    rows: TrainingRows,
    training: Training,
    changes: Sequence[Candidate],
    seconds: float,
) -> tuple[LoopCost, list[Tried]]:
    """Runs the loop as it is and with each change, in turns.

    Args:
        rows: what the training reads as it is.
        training: its step.
        changes: what to try.
        seconds: of each, over all rounds.

    Returns:
        The loop as it is, and each change with its gain over it in the same round.
    """
    batches = rows.epoch(0).repeat()
    loops: list[LoopCost] = []
    gains: list[list[float]] = [[] for _ in changes]
    for _ in range(ROUNDS):
        loops.append(training.loop(batches, seconds / ROUNDS))
        base = loops[-1].examples_per_second
        for gained, one in zip(gains, changes, strict=True):
            loop = one.training.loop(one.batches, seconds / ROUNDS)
            gained.append(loop.examples_per_second / base - 1)
    tried = [
        Tried(one.change, tuple(gained))
        for one, gained in zip(changes, gains, strict=True)
    ]
    return LoopCost.median_of(loops), tried


def _price(config: TrainConfig) -> str:
    """What a larger batch costs: fewer updates, which the learning rate must match."""
    if config.base_batch_size is None:
        return "the learning rate must follow: set train.base_batch_size"
    return "the learning rate follows train.base_batch_size; give it warmup_steps"

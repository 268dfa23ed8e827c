"""The split of every row of a batch."""

import numpy as np

from components.example_gen.batches import PlacedBatch
from components.example_gen.time_borders import TimeBorder, TimeBorders, tied_rows
from data.arrays import Bools
from data.dataset import Dataset
from data.layout import HashSplit, TimeSplit
from data.readers.files import LogFile
from data.splits import hash_fractions


def assign(
    batch: PlacedBatch, file: LogFile, dataset: Dataset, borders: TimeBorders | None
) -> dict[str, Bools]:
    """Which rows belong to which split.

    Args:
        batch: the rows.
        file: the file they come from.
        dataset: the declaration.
        borders: between the splits, if they are by time.

    Returns:
        For each split [rows] bool; every row is in one of them.
    """
    split = dataset.split
    if isinstance(split, HashSplit):
        keys = list(batch.typed.split_keys.values())
        fractions = hash_fractions(keys, split.salt)
        evaluated: Bools = fractions < split.eval_fraction
        rest = 1.0 - split.eval_fraction
        held_out = fractions < (
            split.eval_fraction + rest * (split.validate_fraction or 0.0)
        )
    elif isinstance(split, TimeSplit):
        assert borders is not None
        evaluated = _behind(batch, dataset, borders.eval)
        held_out = evaluated
        if borders.validate is not None:
            held_out = _behind(batch, dataset, borders.validate)
    else:
        evaluated = np.full(batch.rows, file.split == "eval")
        held_out = np.full(batch.rows, file.split != "train")
    masks = {"train": ~held_out, "validate": held_out & ~evaluated, "eval": evaluated}
    return {name: masks[name] for name in dataset.split_names}


def _behind(batch: PlacedBatch, dataset: Dataset, border: TimeBorder) -> Bools:
    """Which rows lie behind a border in time, [rows] bool."""
    assert dataset.keys.timestamp
    mask: Bools = batch.values(dataset.keys.timestamp.column) > border.second
    if border.ties is not None:
        for index, row in tied_rows(batch, dataset, border.second):
            mask[index] = border.ties.is_behind(row)
    return mask

"""The split of every row of a batch."""

import numpy as np

from components.example_gen.batches import PlacedBatch
from components.example_gen.time_borders import TimeBorder, tied_rows
from data.arrays import Bools
from data.dataset import Dataset
from data.layout import HashSplit, TimeSplit
from data.readers.files import LogFile
from data.splits import hash_fractions


def is_eval(
    batch: PlacedBatch, file: LogFile, dataset: Dataset, border: TimeBorder | None
) -> Bools:
    """Which rows are evaluated.

    Args:
        batch: the rows.
        file: the file they come from.
        dataset: the declaration.
        border: between train and eval, if the split is by time.

    Returns:
        [rows] bool.
    """
    split = dataset.split
    if isinstance(split, HashSplit):
        keys = list(batch.typed.split_keys.values())
        return hash_fractions(keys, split.salt) < split.eval_fraction
    if isinstance(split, TimeSplit):
        assert border is not None
        assert dataset.keys.timestamp
        mask: Bools = batch.values(dataset.keys.timestamp.column) > border.second
        if border.ties is not None:
            for index, row in tied_rows(batch, dataset, border.second):
                mask[index] = border.ties.is_eval(row)
        return mask
    return np.full(batch.rows, file.split == "eval")

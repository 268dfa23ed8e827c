"""Simulated clicks with many id fields, as CSV: the input of the FuxiCTR comparison.

26 id fields of 10 to 100,000 values, each value as frequent as a power law says, and 5
numbers. A click depends on each id, on some pairs of ids, and on the numbers.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

LABEL = "click"
IDS = tuple(f"id_{number:02d}" for number in range(26))
NUMBERS = tuple(f"number_{number}" for number in range(5))
_SIZES = tuple(10**power for power in (1, 2, 3, 4, 5))
_CHUNK = 100_000
# Standard deviations on the logit scale, and the width of the vectors of a pair.
_EFFECT, _PAIR, _NUMBER = 0.25, 0.45, 0.2
_PAIRS = tuple((2 * number, 2 * number + 1) for number in range(5))
_WIDTH = 4
_INTERCEPT = -2.5


class Log:
    """What clicks depend on; all rows of a log are drawn from it."""

    def __init__(self, seed: int) -> None:
        """Draws the effects of all ids."""
        self._random = np.random.default_rng(seed)
        sizes = [_SIZES[number % len(_SIZES)] for number in range(len(IDS))]
        self._effects = [self._random.normal(0, _EFFECT, size) for size in sizes]
        scale = (_PAIR / _WIDTH**0.5) ** 0.5
        self._vectors = [
            self._random.normal(0, scale, (size, _WIDTH)) for size in sizes
        ]

    def write(self, path: Path, rows: int) -> None:
        """Writes rows that are independent of those written before.

        Args:
            path: the CSV file.
            rows: how many.
        """
        print(f"  writing {rows:,} rows to {path.name}", flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = None
        for start in range(0, rows, _CHUNK):
            batch = self._rows(min(_CHUNK, rows - start))
            writer = writer or csv.CSVWriter(str(path), batch.schema)
            writer.write(batch)
        assert writer is not None
        writer.close()

    def _rows(self, rows: int) -> pa.RecordBatch:
        """Some rows."""
        random = self._random
        # Log-uniform: the share of an id falls as one over its number.
        ids = [
            (len(one) ** random.random(rows)).astype(np.int64) - 1
            for one in self._effects
        ]
        numbers = random.normal(0, 1, (len(NUMBERS), rows))
        logits = _INTERCEPT + _NUMBER * numbers.sum(axis=0)
        for effects, values in zip(self._effects, ids, strict=True):
            logits += effects[values]
        for left, right in _PAIRS:
            first, second = (self._vectors[one][ids[one]] for one in (left, right))
            logits += (first * second).sum(axis=1)
        clicks = random.random(rows) < 1 / (1 + np.exp(-logits))
        columns = {LABEL: pa.array(clicks.astype(np.int64))}
        for name, values in zip(IDS, ids, strict=True):
            text = pa.array(values).cast(pa.string())
            columns[name] = pc.binary_join_element_wise("v", text, "")
        for name, floats in zip(NUMBERS, numbers, strict=True):
            columns[name] = pa.array(np.round(floats, 4))
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

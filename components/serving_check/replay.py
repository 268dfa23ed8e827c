"""The process that stands for a model server: loads a model and replays requests.

``python -m components.serving_check.replay MODEL FOLDER TOLERANCE`` reads
``FOLDER/rows.tfrecord`` and writes ``FOLDER/facts.json``. ``FOLDER/step.txt`` names what
it is at, for the case that it does not come back. It imports TensorFlow and numpy, and
nothing of what trained the model.
"""

import dataclasses
import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from components.serving_check.cases import Case, cases
from components.serving_check.columns import request_columns
from components.serving_check.requests import send_all
from components.serving_check.signature import Signature, fault_of
from components.serving_check.timing import BATCH_SIZES, latency
from components.serving_check.watch import end_with_stdin

ROWS_FILE = "rows.tfrecord"
FACTS_FILE = "facts.json"
STEP_FILE = "step.txt"
# Batches whose answers must be those of all rows at once.
SMALL_BATCHES = (1, 7)


class Replay:
    """All that is done to one model."""

    def __init__(self, model: str, folder: Path, tolerance: float) -> None:
        """Takes the places of everything.

        Args:
            model: folder of the SavedModel.
            folder: where rows come from, and facts go.
            tolerance: largest difference of two predictions of one row.
        """
        self._model, self._folder, self._tolerance = model, folder, tolerance

    def run(self) -> dict[str, Any]:
        """Runs every step.

        Returns:
            What was found; ``error`` alone where the model cannot be loaded.
        """
        self._starts("loading the model")
        start = time.perf_counter()
        try:
            loaded = tf.saved_model.load(self._model)
        except Exception as error:
            lines = str(error).splitlines()
            return {"error": f"{type(error).__name__}: {lines[0] if lines else ''}"}
        load_seconds = time.perf_counter() - start
        signatures = [Signature(*item) for item in sorted(loaded.signatures.items())]
        file = tf.data.TFRecordDataset(str(self._folder / ROWS_FILE))
        rows = [row.numpy() for row in file]
        sent = list(cases(request_columns(signatures, rows), rows[0]))
        return {
            "signatures": {
                one.name: self._facts(one, rows, sent) for one in signatures
            },
            "load_seconds": load_seconds,
            # Linux counts kibibytes.
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "tensorflow": tf.__version__,
        }

    def _facts(
        self, signature: Signature, rows: Sequence[bytes], sent: Sequence[Case]
    ) -> dict[str, Any]:
        """What is found of one signature."""
        if signature.output is None:
            return {"skipped": "none of its outputs is a prediction"}
        self._starts(f"{signature.name}: replaying rows")
        try:
            whole = signature.predict(rows)
        except Exception as error:
            # The type alone: messages of TensorFlow quote the row.
            return {"fault": type(error).__name__}
        fault = fault_of(whole, len(rows))
        if fault is not None:
            return {"fault": fault}
        whole = whole.reshape(-1)
        facts: dict[str, Any] = {"predictions": whole.tolist()}
        facts["batches"] = {
            size: self._difference(signature, rows, whole, size)
            for size in SMALL_BATCHES
        }
        outcomes = send_all(signature, sent, rows[0], self._tolerance, self._starts)
        facts["requests"] = [dataclasses.asdict(outcome) for outcome in outcomes]
        # What came before must have left the model as it was.
        self._starts(f"{signature.name}: replaying rows again")
        again = signature.predict(rows).reshape(-1)
        facts["again"] = _largest(again - whole)
        for size in BATCH_SIZES:
            self._starts(f"{signature.name}: timing requests of {size} rows")
            facts.setdefault("latency", {})[size] = latency(signature, rows, size)
        return facts

    def _difference(
        self,
        signature: Signature,
        rows: Sequence[bytes],
        whole: NDArray[Any],
        size: int,
    ) -> float:
        """Largest difference between batches of a size and all rows at once."""
        self._starts(f"{signature.name}: replaying rows in batches of {size}")
        parts = [
            signature.predict(rows[start : start + size]).reshape(-1)
            for start in range(0, len(rows), size)
        ]
        return _largest(np.concatenate(parts) - whole)

    def _starts(self, step: str) -> None:
        """Notes what comes next."""
        (self._folder / STEP_FILE).write_text(step)


def _largest(differences: NDArray[Any]) -> float:
    """Largest absolute difference; a NaN is as far off as a probability can be."""
    return float(np.nan_to_num(np.abs(differences), nan=1.0, posinf=1.0).max())


def main(arguments: Sequence[str]) -> None:
    """Replays and writes the facts.

    Args:
        arguments: model, folder, tolerance.
    """
    end_with_stdin()
    model, folder, tolerance = arguments
    facts = Replay(model, Path(folder), float(tolerance)).run()
    Path(folder, FACTS_FILE).write_text(json.dumps(facts))


if __name__ == "__main__":
    main(sys.argv[1:])

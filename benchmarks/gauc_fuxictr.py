"""FuxiCTR's own gAUC, timed in an environment of its own: PYTHON THIS_FILE FOLDER.

It hands each user's rows to a pool of processes, so their CPU counts too.
"""

import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from fuxictr.metrics import evaluate_metrics

PACKAGES = ("fuxictr", "numpy", "polars", "scikit-learn")


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main() -> None:
    """Prints value, versions and seconds as JSON."""
    folder = Path(sys.argv[1])
    users, labels, scores = (
        np.load(folder / f"{name}.npy") for name in ("users", "labels", "scores")
    )
    wall, cpu = time.perf_counter(), cpu_seconds()
    value = evaluate_metrics(labels.astype(int), scores, ["gAUC"], users)["gAUC"]
    print(
        json.dumps(
            {
                "value": float(value),
                "wall_seconds": time.perf_counter() - wall,
                "cpu_seconds": cpu_seconds() - cpu,
                "packages": {name: version(name) for name in PACKAGES},
            }
        )
    )


if __name__ == "__main__":
    main()

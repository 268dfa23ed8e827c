"""The demo's model against the simulator's truth, three seeds.

    python -m benchmarks.demo_truth [--seeds 0 1 2]

Judged by expected GAUC: pairs of one user's rows count by the probability that one is a
click and the other is not, so labels add no noise. The logistic regression beside it is
given the true crosses. Writes ``benchmarks/results/demo_truth_<stack>.json``.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe
from benchmarks.scoring import run_and_score

RESULTS = Path(__file__).parent / "results"
COLUMNS = ["request_id", "user_id", "click"]


def settings(seed: int, logistic: bool) -> dict[str, Any]:
    """The demo's configuration with a seed, and another network if asked.

    The preset declares the true crosses as features, so both networks have them.

    Args:
        seed: of the log and the training.
        logistic: logistic regression instead of the preset's network.

    Returns:
        Content of a configuration.
    """
    from pipeline.config import load

    content = load(preset="demo").model_dump(by_alias=True, mode="json")
    content["simulate"]["seed"] = content["train"]["seed"] = seed
    if logistic:
        content["model"] = {"name": "logistic_regression", "linear_l2": 0.0001}
    return content


def measure(seed: int, logistic: bool) -> dict[str, float]:
    """Runs the DAG on one simulated log.

    Args:
        seed: of log and training.
        logistic: which network.

    Returns:
        Expected GAUC of model and truth, share of the way, PCOP and click rate.
    """
    import pyarrow.dataset as ds

    from data.simulator.truth import expected_gauc
    from data.simulator.writing import write_log
    from pipeline.config import PipelineConfig

    config = PipelineConfig.model_validate(settings(seed, logistic))
    assert config.simulate is not None
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        write_log(config.simulate, log, "parquet")
        truth = ds.dataset(str(log)).to_table(
            columns=["request_id", "true_probability"]
        )
        _, rows = run_and_score(config, str(log), COLUMNS, ["eval"])
    by_request = dict(
        zip(
            truth["request_id"].to_pylist(),
            truth["true_probability"].to_pylist(),
            strict=True,
        )
    )
    rows_eval = rows["eval"]
    chance = np.array([by_request[one] for one in rows_eval["request_id"].tolist()])
    users = np.unique(rows_eval["user_id"], return_inverse=True)[1]
    model = expected_gauc(users, rows_eval["score"], chance)
    best = expected_gauc(users, chance, chance)
    assert model is not None
    assert best is not None
    return {
        "seed": seed,
        "model_gauc": model,
        "true_gauc": best,
        "share_of_the_way": (model - 0.5) / (best - 0.5),
        "pcop": float(rows_eval["score"].sum() / rows_eval["click"].sum()),
        "predicted_over_expected": float(rows_eval["score"].sum() / chance.sum()),
        "click_rate": float(rows_eval["click"].mean()),
    }


def main() -> None:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", choices=("demo", "logistic_true_crosses"))
    arguments = parser.parse_args()
    from pipeline.cli.quiet import silence

    silence()
    result: dict[str, Any] = {"machine": describe()}
    for name, logistic in (("demo", False), ("logistic_true_crosses", True)):
        if arguments.only not in (None, name):
            continue
        runs = [measure(seed, logistic) for seed in arguments.seeds]
        keys = [key for key in runs[0] if key != "seed"]
        mean = {key: statistics.mean(run[key] for run in runs) for key in keys}
        result[name] = {"runs": runs, "mean": mean}
        for label, run in [*((f"seed {r['seed']}", r) for r in runs), ("mean", mean)]:
            numbers = "  ".join(f"{key} {run[key]:.4f}" for key in keys)
            print(f"{name:<22} {label:<7} {numbers}", flush=True)
    part = f"_{arguments.only}" if arguments.only else ""
    stack = result["machine"]["packages"]["tfx"]
    target = RESULTS / f"demo_truth{part}_tfx{stack}.json"
    target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

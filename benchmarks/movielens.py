"""GAUC, AUC and PCOP on MovieLens-100K, by time and by hash with five salts.

    python -m benchmarks.movielens --input FOLDER [--only time|hash]

Every run is the whole DAG with the ``movielens`` preset; only the split changes. The item
mean beside it is each film's share of likes in the training rows, shrunk by five rows
towards the mean of all. Writes ``benchmarks/results/movielens_<stack>.json``.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import describe
from benchmarks.scoring import run_and_score

RESULTS = Path(__file__).parent / "results"
SALTS = ("2024-a", "2024-b", "2024-c", "2024-d", "2024-e")
COLUMNS = ["user_id", "item_id", "label"]
SHRINKAGE = 5.0


def item_mean(
    train: dict[str, NDArray[Any]], rows: dict[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """Share of likes of each row's film in the training rows, shrunk.

    Args:
        train: columns of the training rows.
        rows: columns of the rows to score.

    Returns:
        float64 [rows].
    """
    overall = float(train["label"].mean())
    films, codes = np.unique(train["item_id"], return_inverse=True)
    counts = np.bincount(codes)
    likes = np.bincount(codes, weights=train["label"])
    means = (likes + SHRINKAGE * overall) / (counts + SHRINKAGE)
    known = dict(zip(films.tolist(), means.tolist(), strict=True))
    return np.array([known.get(film, overall) for film in rows["item_id"].tolist()])


def measure(input_base: str, split: dict[str, Any]) -> dict[str, Any]:
    """One run with one split.

    Args:
        input_base: folder of the data set.
        split: as the configuration has it.

    Returns:
        Metrics of the model and the item mean, and their paired difference.
    """
    from components.metrics.columns import check_columns, encode_users
    from components.table_evaluation import evaluate_table
    from pipeline.config import PipelineConfig, load

    content = load(preset="movielens").model_dump(by_alias=True, mode="json")
    content["data"]["split"] = split
    config = PipelineConfig.model_validate(content)
    summary, rows = run_and_score(config, input_base, COLUMNS, ["train", "eval"])
    rated = rows["eval"]
    columns, _ = check_columns(
        encode_users(rated["user_id"]),
        rated["label"],
        rated["score"],
        baseline=item_mean(rows["train"], rated),
    )
    overall = evaluate_table(columns, {}, [], "impressions")[0].to_json()
    return {
        "split": split,
        "rows": overall["rows"],
        "model": {n: overall["metrics"][n] for n in ("gauc", "auc", "pcop")},
        "item_mean": {n: overall["baseline"][n] for n in ("gauc", "auc")},
        "delta": {n: overall["delta"][n] for n in ("gauc", "auc")},
        "evaluator_gauc": summary["slices"][0]["metrics"]["gauc"]["value"],
        "seconds": sum(entry["wall_seconds"] for entry in summary["components"]),
    }


def show(runs: list[dict[str, Any]]) -> None:
    """Prints one line a run, and mean and spread over the salts."""
    for run in runs:
        name = run["split"].get("salt") or "time"
        model, delta = run["model"], run["delta"]["gauc"]
        print(
            f"{name:<8} GAUC {model['gauc']['value']:.4f} AUC {model['auc']['value']:.4f} "
            f"PCOP {model['pcop']['value']:.3f}  item mean GAUC "
            f"{run['item_mean']['gauc']['value']:.4f}  difference {delta['value']:.4f} "
            f"{delta['ci95']}  {run['seconds']:.0f} s"
        )
    hashed = [run["model"] for run in runs if run["split"]["by"] == "hash"]
    for name in ("gauc", "auc", "pcop") if len(hashed) > 1 else ():
        values = [model[name]["value"] for model in hashed]
        print(
            f"{len(values)} salts: {name} mean {statistics.mean(values):.4f}, "
            f"standard deviation {statistics.stdev(values):.4f}"
        )


def main() -> None:
    """Measures, prints and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", required=True)
    parser.add_argument("--only", choices=("time", "hash"))
    arguments = parser.parse_args()
    from pipeline.cli.quiet import silence

    silence()
    splits: list[dict[str, Any]] = [
        {"by": "time", "eval_fraction": 0.2, "tie_break": ["user_id", "item_id"]}
    ]
    columns = ["user_id", "item_id"]
    splits += [
        {"by": "hash", "columns": columns, "eval_fraction": 0.2, "salt": salt}
        for salt in SALTS
    ]
    wanted = [s for s in splits if arguments.only in (None, s["by"])]
    runs = [measure(arguments.input, split) for split in wanted]
    show(runs)
    machine = describe()
    target = RESULTS / f"movielens_tfx{machine['packages']['tfx']}.json"
    result = {"machine": machine, "runs": runs}
    target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

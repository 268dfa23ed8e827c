"""A run with every part of a report, and texts that try to break out of the page."""

import dataclasses
import math

import pytest

from components.report.content import Content

HOSTILE = (
    "<script>document.title='taken'</script>",
    '"><img src=x onerror="document.title=\'taken\'">',
    "</script><script>document.title='taken'</script>",
    "{{ 7 * 7 }}",
    "a|b`c*d_e\n# head",
    "größe 日本 \u202e🙂",
    "x" * 300,
)


def estimate(value, low=None, high=None, **notes):
    ends = None if low is None else [low, high]
    return {"value": value, "ci95": ends, "reason": None} | notes


def slice_of(values, gauc, pcop, clicks, delta=0.01):
    change = {
        "gauc": estimate(delta, delta - 0.02, delta + 0.02),
        "pcop": estimate(0.02, -0.01, 0.05),
        "log_loss": estimate(-0.001, -0.002, 0.0),
        "log_pcop": estimate(0.02, -0.01, 0.05),
    }
    metrics = {
        "gauc": estimate(gauc, gauc - 0.03, gauc + 0.03, effective_users=640.4),
        "pcop": estimate(pcop, pcop / 1.1, pcop * 1.1, effective_users=900.0),
        "auc": estimate(0.7),
        "log_loss": estimate(0.21, 0.2, 0.22),
        "normalized_entropy": estimate(0.94),
        "ece": estimate(0.006, expected_if_calibrated=0.0041, excess=0.0019),
        "pr_auc": {"value": None, "ci95": None, "reason": "no clicks"},
        "abs_log_pcop": estimate(abs(math.log(pcop)), 0.0, 0.2),
    }
    return {
        "slice": values,
        "rows": 20 * clicks,
        "clicks": clicks,
        "users": 3 * clicks,
        "users_scored": clicks,
        "rows_scored": 8 * clicks,
        "rows_without_user": 0,
        "weight": 20.0 * clicks,
        "click_weight": float(clicks),
        "metrics": metrics,
        "baseline": metrics,
        "delta": change,
        "calibration": [
            {
                "lowest": 0.01 * step,
                "highest": 0.01 * step + 0.01,
                "weight": 2.0 * clicks,
                "predicted": 0.01 * step + 0.005,
                "observed": 0.009 * step + 0.004,
            }
            for step in range(10)
        ],
    }


def overall(clicks):
    bins = range(20)
    return slice_of({}, 0.70, 1.04, clicks) | {
        "field_calibration_error": {"device": 0.012, "hour": 0.02},
        "curves": {
            "roc": {
                "fpr": [step / 50 for step in range(51)],
                "tpr": [(step / 50) ** 0.5 for step in range(51)],
            },
            "pr": {
                "recall": [step / 50 for step in range(1, 51)],
                "precision": [0.25 - 0.2 * step / 50 for step in range(1, 51)],
            },
            "scores": {
                "edges": [step / 40 for step in range(21)],
                "clicks": [math.exp(-(((step - 6) / 4) ** 2)) for step in bins],
                "others": [math.exp(-(((step - 2) / 3) ** 2)) for step in bins],
            },
            "user_auc": {
                "edges": [step / 20 for step in range(21)],
                "users": [10 + step * (25 - step) for step in bins],
            },
        },
    }


def check(status, values, reason=None, **more):
    return {
        "metric": "gauc",
        "slice": values,
        "kind": "min",
        "bound": 0.6,
        "value": 0.58,
        "rows": 20_000,
        "clicks": 1_000,
        "status": status,
        "reason": reason,
    } | more


def split(rows):
    return {
        "rows": rows,
        "clicks": rows // 20,
        "time": {"first": 0, "last": 86_399},
        "shards": [],
    }


def component(name, **more):
    usage = {"wall_seconds": 12.5, "cpu_seconds": 20.0, "peak_bytes": 2**30}
    return {"component": name, "state": "complete", "rows": 1_000} | usage | more


@pytest.fixture(scope="session")
def content() -> Content:
    """A complete run with a baseline, a failed, an undecided and a passed check."""
    names = ["ios", "android", "web", *HOSTILE]
    slices = [overall(1_000)] + [
        slice_of({"device": name}, 0.62 + 0.02 * place, 0.9 + 0.05 * place, clicks)
        for place, (name, clicks) in enumerate(
            zip(names, [400, 250, 50, 140, 120, 110, 105, 104, 103, 102], strict=True)
        )
    ]
    undefined = {"value": None, "ci95": None, "reason": "no user has both"}
    slices[2]["metrics"]["gauc"] = undefined
    steps = [float(step) for step in range(50, 2_050, 50)]
    summary = {
        "run": "2026-01-02T03:04:05.000006",
        "pipeline": "ads",
        "input": "/data/clicks",
        "data": {
            "rows_read": 100_000,
            "rows_written": 99_990,
            "rows_quarantined": 10,
            "quarantined": {"label: not 0 or 1": 10},
            "notices": [],
            "splits": {"train": split(80_000), "eval": split(19_990)},
        },
        "training": {
            "steps": 2_000,
            "final_loss": 0.2,
            "epoch_losses": [0.22, 0.21],
            "validation": [
                {"epoch": 1, "log_loss": 0.23, "gauc": 0.66, "pcop": 1.1},
                {"epoch": 2, "log_loss": 0.22, "gauc": 0.69, "pcop": 1.05}
                | {"gauc_interval": [0.67, 0.71]},
            ],
            "best_epoch": 2,
        },
        "slices": slices,
        "verdict": {
            "blessed": False,
            "reason": "not blessed: 1 failed and 1 undecided of 3 checks",
            "checks": [
                check("pass", {}),
                check("fail", {"device": HOSTILE[0]}, "0.58 is below 0.6"),
                check(
                    "undecided",
                    {"device": "web"},
                    "the interval holds the bound",
                    kind="non_inferior",
                    against="reference",
                    interval=[-0.02, 0.01],
                ),
            ],
        },
        "baseline": "/runs/ads/artifacts/Trainer/model/7",
        "model": "/runs/ads/artifacts/Trainer/model/17",
        "pushed": None,
        "evaluation": "/runs/ads/artifacts/Evaluator/evaluation/18",
        "components": [
            component("Trainer", device_seconds=8.0),
            component("Evaluator"),
        ],
        "config": {
            "name": "ads",
            "data": {"keys": {"label": "click", "user_id": "user"}},
            "model": {"name": "dcn_v2"},
            "train": {"epochs": 3, "seed": 0},
        },
        "stack": {"python": "3.10.13", "tfx": "1.16.0"},
        "code": {"version": "0.1.0", "commit": "0123abcd", "modified": False},
        "error": None,
    }
    feature = {"present": 0.98, "values_per_row": 1.0, "hidden": False}
    return Content(
        summary=summary,
        statistics=[
            {
                "split": "train",
                "rows": 80_000,
                "features": [
                    {"name": "device", "type": "string", "unique": 9}
                    | feature
                    | {"top": [[HOSTILE[1], 40_000.0], ["ios", 30_000.0]]},
                    {"name": "price", "type": "float", "mean": 23.1, "deviation": 4.5}
                    | feature
                    | {"zeros": 0.0, "min": 0.5, "median": 20.0, "max": 99.0},
                    {"name": "user", "type": "string", "unique": 20_000}
                    | feature
                    | {"hidden": True},
                ],
            }
        ],
        anomalies=[
            {"split": "eval", "column": "device", "description": HOSTILE[1]},
        ],
        curves={
            "train/loss": {
                "steps": steps,
                "values": [0.2 + 5.0 / step for step in steps],
            },
            "validation/gauc": {"steps": [700.0, 1400.0], "values": [0.66, 0.69]},
            "validation/log_loss": {"steps": [700.0, 1400.0], "values": [0.23, 0.22]},
            "train/learning_rate": {"steps": steps, "values": [0.006] * len(steps)},
        },
        lineage=[
            {
                "component": "Trainer",
                "state": "complete",
                "inputs": {},
                "outputs": {"model": ["/runs/ads/artifacts/Trainer/model/17"]},
            }
        ],
        configuration="name: ads\n",
        commands=["ctr run --config run.yaml --input /data/clicks"],
    )


@pytest.fixture(scope="session")
def failed(content: Content) -> Content:
    """A run that ended in its first component."""
    gone = ("data", "training", "slices", "verdict", "baseline", "model", "evaluation")
    summary = content.summary | dict.fromkeys(gone)
    summary |= {
        "components": [component("ClickLogExampleGen", state="failed", rows=None)],
        "error": f"clicks.csv:7: label: {HOSTILE[0]}",
    }
    reasons = dict.fromkeys(gone, "the run did not reach Trainer")
    return dataclasses.replace(
        content,
        summary=summary,
        statistics=None,
        anomalies=None,
        curves=None,
        lineage=[],
        absent=reasons | {"data": "ClickLogExampleGen failed"},
    )

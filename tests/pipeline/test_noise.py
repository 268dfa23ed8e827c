"""The noise of retraining, by hand, and the command on runs that are made up."""

import json
import math
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pipeline.cli.main import cli
from pipeline.cli.noise import _gate
from pipeline.noise import noise_by_metric, noise_of


def test_three_retrains_by_hand() -> None:
    # Mean 0.70; deviations -0.01, 0, 0.01: s^2 = 2e-4 / 2, so s = 0.01.
    found = noise_of([0.69, 0.70, 0.71])
    assert found.mean == pytest.approx(0.70)
    assert found.deviation == pytest.approx(0.01)
    assert found.difference == pytest.approx(0.01 * math.sqrt(2))
    # With two degrees of freedom chi-square is exponential with mean 2, so its
    # quantiles are -2 log(1 - p); that of Student's t is (2p - 1) / sqrt(2p(1 - p)).
    low, high = (0.01 * math.sqrt(2 / (-2 * math.log(tail))) for tail in (0.025, 0.975))
    assert found.deviation_ci95 == pytest.approx((low, high))
    assert (low, high) == pytest.approx((0.0052, 0.0628), abs=1e-4)
    quantile = 0.9 / math.sqrt(2 * 0.95 * 0.05)
    assert found.margin == pytest.approx(quantile * 0.01 * math.sqrt(2))


def test_two_retrains_by_hand() -> None:
    # Student's t with one degree of freedom is Cauchy: tan(0.45 pi) at 95 %.
    found = noise_of([0.1, 0.3])
    assert found.deviation == pytest.approx(0.2 / math.sqrt(2))
    assert found.margin == pytest.approx(math.tan(0.45 * math.pi) * 0.2)


def summary(gauc: float | None, log_loss: float) -> dict[str, Any]:
    metrics = {"gauc": {"value": gauc}, "log_loss": {"value": log_loss}}
    return {"slices": [{"metrics": metrics}, {"metrics": {}}], "file": "run.json"}


def test_a_metric_that_is_undefined_once_is_left_out() -> None:
    found = noise_by_metric([summary(None, 0.2), summary(0.7, 0.3)])
    assert list(found) == ["log_loss"]
    assert found["log_loss"].values == (0.2, 0.3)


@pytest.mark.parametrize(
    ("name", "margin", "gate"),
    [
        ("gauc", 0.0412, "min_change: -0.042"),
        ("log_loss", 0.00101, "max_change: 0.0011"),
        ("pcop", 0.1, ""),
        ("gauc", 0.0, ""),
    ],
)
def test_a_gate_is_never_tighter_than_the_margin(
    name: str, margin: float, gate: str
) -> None:
    assert _gate(name, margin) == gate


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Path]]:
    """Seeds and roots of the runs that the command makes; none really runs."""
    seen: list[tuple[int, Path]] = []

    def run(config: Any, input_base: str | None, root: Path, _: Any) -> dict[str, Any]:
        assert input_base == "log"
        seen.append((config.train.seed, root))
        return summary(0.7 + 0.01 * len(seen), 0.2)

    # In place of a module that takes seconds to import.
    monkeypatch.setitem(sys.modules, "pipeline.run", types.SimpleNamespace(run=run))
    # It would keep the logs of later tests, too, from being written.
    monkeypatch.setattr("pipeline.cli.quiet.silence", lambda: None)
    return seen


def test_each_retrain_has_its_seed_and_its_folder(
    runs: list[tuple[int, Path]], tmp_path: Path
) -> None:
    arguments = ["noise", "--preset", "demo", "--input", "log", "--root", str(tmp_path)]
    done = CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False)
    assert runs == [(seed, tmp_path / "noise" / str(seed)) for seed in range(3)]
    content = json.loads(done.stdout)
    assert content["metrics"]["gauc"]["deviation"] == pytest.approx(0.01)
    assert content["metrics"]["log_loss"]["margin"] == 0.0

    shown = CliRunner().invoke(cli, [*arguments, "--retrains", "4"])
    assert len(runs) == 3 + 4
    assert "noise of 4 retrains" in shown.output
    assert "min_change" in shown.output


def test_one_retrain_says_nothing_about_noise() -> None:
    done = CliRunner().invoke(cli, ["noise", "--preset", "demo", "--retrains", "1"])
    assert done.exit_code == 2

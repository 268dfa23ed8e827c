"""The verdict on the console: each check that did not pass says what it was held to."""

import dataclasses

from components.gates import judge
from components.gates_config import GatesConfig
from components.metrics.names import CHANGES, METRICS
from components.metrics.results import Counts, Estimate, SliceResult
from pipeline.cli.tables import metric_notes, verdict_lines


def one_slice(name: str) -> SliceResult:
    change = Estimate(-0.02, None, None, 0.001, 1e9)
    return SliceResult(
        slice={"device": name} if name else {},
        counts=Counts(rows=40_000, clicks=2_148),
        metrics=dict.fromkeys(METRICS, Estimate(0.7)),
        baseline=dict.fromkeys(METRICS, Estimate(0.72)),
        delta=dict.fromkeys(CHANGES, change),
    )


def test_lines_name_metric_slice_size_bound_and_interval() -> None:
    bounds = {"gauc": {"min": 0.6, "non_inferior": 0.01}}
    gates = GatesConfig.model_validate(
        {
            "overall": bounds,
            "slices": [{"slice": ["device"], "metrics": {"auc": {"max": 0.5}}}],
            "reference": {"log_loss": {"max_change": -0.1}},
        }
    )
    slices = [one_slice(""), one_slice("[bold]x")]
    lines = verdict_lines(judge(slices, gates, slices).to_json())
    # -0.02 -+ 1.6449 * 0.001
    assert lines == [
        "verdict: [red]not blessed: 3 failed of 4 checks[/red]",
        "  fail: gauc of overall (40,000 rows, 2,148 clicks), non_inferior 0.01 against "
        "baseline: -0.02, interval -0.02164 to -0.01836 is wholly below -0.01",
        "  fail: auc of device=\\[bold]x (40,000 rows, 2,148 clicks), max 0.5: "
        "0.7 is above 0.5",
        "  fail: log_loss of overall (40,000 rows, 2,148 clicks), max_change -0.1 "
        "against reference: -0.02 is above -0.1",
    ]


def test_an_allowed_undecided_check_is_marked() -> None:
    gates = GatesConfig.model_validate(
        {"allow_undecided": True, "overall": {"gauc": {"non_inferior": 0.02}}}
    )
    (_, line) = verdict_lines(judge([one_slice("")], gates).to_json())
    assert line.startswith("  undecided (allowed): gauc of overall")
    assert line.endswith("-0.02, interval -0.02164 to -0.01836 reaches below -0.02")


def test_changes_against_a_baseline_are_told_with_their_intervals() -> None:
    sure = Estimate(-0.02, (-0.03, -0.01), None, 0.005, 50)
    unsure = Estimate(0.1, None, None, 0.05, 3)
    overall = one_slice("")
    overall = dataclasses.replace(overall, delta={"gauc": sure, "auc": unsure})
    (line,) = [one for one in metric_notes(overall.to_json()) if "change" in one]
    assert line == (
        "change of gauc against the baseline: -0.0200, 95 % -0.0300 to -0.0100, "
        "paired by user"
    )

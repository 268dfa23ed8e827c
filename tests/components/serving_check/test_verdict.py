"""What fails a model: differences, odd requests, size and latency above their limits."""

import numpy as np
import pytest

from components.serving_check.check import ServingResult
from components.serving_check.config import ServingCheckConfig
from components.serving_check.verdict import Check, model_checks, size_check

LATENCY = {
    "p50_ms": 1.0,
    "p95_ms": 2.0,
    "p99_ms": 3.0,
    "examples_per_second": 900.0,
    "calls": 300,
}
ANSWERED = {"column": "price", "case": "NaN", "outcome": "answered", "fault": None}


def facts(**changes):
    found = {
        "predictions": [0.25, 0.5],
        "batches": {"1": 1e-7, "7": 0.0},
        "again": 0.0,
        "requests": [ANSWERED],
        "latency": {"1": LATENCY, "64": LATENCY},
    }
    return {
        "load_seconds": 1.25,
        "peak_bytes": 700 * 2**20,
        "tensorflow": "2",
        "signatures": {"serving_default": found | changes},
    }


def checks(evaluated=None, settings=None, **changes):
    values = np.array([0.25, 0.5]) if evaluated is None else evaluated
    config = ServingCheckConfig(**(settings or {}))
    found = model_checks(facts(**changes), values, config)
    return {check.check: check for check in found}


def test_a_model_within_all_bounds_passes():
    found = checks()
    assert {check.status for check in found.values()} == {"pass"}
    assert list(found) == [
        "load",
        "rows",
        "evaluated",
        "batch sizes",
        "after requests",
        "requests",
        "latency",
    ]
    assert found["load"].text == "1.2 s, peak 700 MiB"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("evaluated", {"evaluated": np.array([0.25, 0.5 + 2e-6])}),
        ("evaluated", {"evaluated": np.array([0.25, np.nan])}),
        ("batch sizes", {"batches": {"1": 0.0, "7": 2e-6}}),
        ("after requests", {"again": 2e-6}),
    ],
)
def test_a_difference_above_the_tolerance_fails(name, arguments):
    found = checks(**arguments)
    assert [one for one in found if found[one].status == "fail"] == [name]
    assert found[name].text.endswith("above 1e-06")


def test_a_tolerance_may_be_wider():
    assert checks(again=2e-6, settings={"tolerance": 1e-5})[
        "after requests"
    ].status == ("pass")


def test_an_evaluation_that_fails_is_a_fault_of_the_model():
    found = checks(evaluated="the Evaluator's path fails: KeyError")
    assert found["evaluated"] == Check(
        "evaluated", None, "fail", "the Evaluator's path fails: KeyError"
    )


def test_odd_requests_that_went_wrong_are_named_and_the_rest_counted():
    wrong = ANSWERED | {"fault": "not finite"}
    whole = wrong | {"column": None, "case": "no bytes"}
    found = checks(requests=[ANSWERED, wrong, whole])["requests"]
    assert found.status == "fail"
    assert found.text == (
        "2 of 3 odd requests: price, NaN: not finite; request, no bytes: not finite"
    )
    assert checks(requests=[wrong] * 9)["requests"].text.endswith("; ...")


def test_faults_and_missing_predictions_of_a_signature():
    config = ServingCheckConfig()
    for found, status in (
        ({"fault": "not finite"}, "fail"),
        ({"skipped": "x"}, "skipped"),
    ):
        content = facts() | {"signatures": {"s": found}}
        last = list(model_checks(content, np.array([]), config))[-1]
        assert (last.check, last.signature, last.status) == ("rows", "s", status)


def test_limits_hold_for_size_and_for_the_latency_of_one_row():
    limited = ServingCheckConfig(max_size_mib=2, max_p99_ms=2.5)
    assert size_check(2 * 2**20, limited).status == "pass"
    assert size_check(2 * 2**20 + 1, limited).status == "fail"
    assert size_check(2**40, ServingCheckConfig()).status == "pass"
    # 3 ms
    assert checks(settings={"max_p99_ms": 3})["latency"].status == "pass"
    assert checks(settings={"max_p99_ms": 2.5})["latency"].status == "fail"


def test_the_reason_names_every_failed_check():
    made = (
        Check("size", None, "fail", "9 MiB"),
        Check("load", None, "pass", "1 s"),
        Check("rows", "s", "fail", "not finite"),
    )
    result = ServingResult(rows=1, size_bytes=9, checks=made, facts={})
    assert not result.passed
    assert result.reason == ("serving check failed: size: 9 MiB; rows of s: not finite")
    passed = ServingResult(rows=1, size_bytes=9, checks=made[1:2], facts={})
    assert passed.reason == "serving check passed: 1 of 1 checks"


def test_the_file_holds_no_prediction_of_a_row():
    result = ServingResult(rows=2, size_bytes=9, checks=(), facts=facts())
    assert "predictions" not in result.to_json()["signatures"]["serving_default"]

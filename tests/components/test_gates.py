"""Verdicts of the gates on slices made by hand."""

import pydantic
import pytest

from components.gates import judge
from components.gates_config import GatesConfig
from components.metrics.names import CHANGES, METRICS
from components.metrics.results import Counts, Estimate, SliceResult
from data.errors import ConfigError
from data.settings import parse


def result(key=None, rows=1000, clicks=500, delta=None, **values):
    """A slice whose metrics are ``values``; text is the reason of an undefined one."""

    def estimates(given, names):
        return {
            name: Estimate(None, reason=value)
            if isinstance(value := given.get(name, "not given"), str)
            else Estimate(value)
            for name in names
        }

    base = None if delta is None else estimates({}, METRICS)
    return SliceResult(
        key or {},
        Counts(rows=rows, clicks=clicks),
        estimates(values, METRICS),
        base,
        0,
        None if delta is None else estimates(delta, CHANGES),
    )


def gates(**content):
    return parse(GatesConfig, content, "gates.yaml")


def statuses(verdict):
    return [check.status for check in verdict.checks]


PCOP = gates(overall={"pcop": {"min": 0.95, "max": 1.05}})


def test_no_gates_bless_nothing():
    verdict = judge([result(gauc=0.9)], GatesConfig())
    assert (verdict.blessed, verdict.reason) == (
        False,
        "not blessed: no gates configured",
    )


def test_no_rows_bless_nothing():
    verdict = judge([], PCOP)
    assert (verdict.blessed, verdict.reason) == (
        False,
        "not blessed: no rows were evaluated",
    )


@pytest.mark.parametrize(
    ("pcop", "expected"),
    [
        (0.94, ["fail", "pass"]),
        (0.95, ["pass", "pass"]),
        (1.05, ["pass", "pass"]),
        (1.06, ["pass", "fail"]),
    ],
)
def test_a_bound_itself_passes(pcop, expected):
    verdict = judge([result(pcop=pcop)], PCOP)
    assert statuses(verdict) == expected
    assert verdict.blessed == ("fail" not in expected)


def test_undefined_over_all_rows_fails_with_its_reason():
    verdict = judge([result(pcop="no clicks")], PCOP)
    assert not verdict.blessed
    assert verdict.checks[0].value is None
    assert verdict.checks[0].reason == "undefined: no clicks"


def test_changes_are_skipped_without_a_baseline():
    both = gates(overall={"gauc": {"min": 0.6, "min_change": -0.01}})
    verdict = judge([result(gauc=0.7)], both)
    assert verdict.blessed
    assert statuses(verdict) == ["pass", "skipped"]
    assert verdict.checks[1].reason == "no baseline"
    assert "no baseline" in verdict.reason


@pytest.mark.parametrize(("change", "status"), [(-0.02, "fail"), (-0.01, "pass")])
def test_changes_against_a_baseline(change, status):
    one = gates(overall={"gauc": {"min_change": -0.01}})
    verdict = judge([result(gauc=0.7, delta={"gauc": change})], one)
    assert statuses(verdict) == [status]


def test_an_unresolved_change_is_undecided_and_does_not_bless():
    one = gates(overall={"abs_log_pcop": {"max_change": 0.0}})
    delta = {"abs_log_pcop": "sign unresolved"}
    verdict = judge([result(abs_log_pcop=0.01, delta=delta)], one)
    assert statuses(verdict) == ["undecided"]
    assert not verdict.blessed


SLICED = {"slice": ["hour", "device"], "metrics": {"gauc": {"min": 0.6}}}


@pytest.mark.parametrize(
    ("entry", "size", "value", "status"),
    [
        ({}, {}, 0.5, "fail"),
        ({}, {}, 0.7, "pass"),
        ({}, {"clicks": 99}, 0.5, "skipped"),
        ({"min_clicks": 50}, {"clicks": 99}, 0.5, "fail"),
        ({"min_rows": 2000}, {}, 0.5, "skipped"),
        ({}, {}, "no non-clicks", "skipped"),
        ({"fail_undefined": True}, {}, "no non-clicks", "fail"),
    ],
)
def test_gates_on_slices(entry, size, value, status):
    one = gates(slices=[SLICED | entry])
    key = {"device": "ios", "hour": 7}
    other = result({"device": "ios"}, gauc=0.1)  # no such gate
    verdict = judge([result(), other, result(key, gauc=value, **size)], one)
    assert statuses(verdict) == [status]
    assert verdict.checks[0].slice == key


def test_a_gate_on_slices_that_were_not_evaluated_fails():
    verdict = judge([result()], gates(slices=[SLICED]))
    assert statuses(verdict) == ["fail"]
    assert "no such slice" in verdict.checks[0].reason


def test_the_verdict_as_json_lists_every_check():
    content = judge([result(pcop=1.2)], PCOP).to_json()
    assert content["blessed"] is False
    assert content["reason"] == (
        "not blessed: 1 failed of 2 checks; first run: no baseline to compare with"
    )
    assert content["checks"][1] == {
        "metric": "pcop",
        "slice": {},
        "kind": "max",
        "bound": 1.05,
        "value": 1.2,
        "rows": 1000,
        "clicks": 500,
        "status": "fail",
        "reason": "1.2 is above 1.05",
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"overall": {"gacu": {"min": 0}}}, "unknown metric 'gacu'.*mean 'gauc'"),
        ({"overall": {"gauc": {}}}, "needs one of min"),
        ({"overall": {"pcop": {"min": 2, "max": 1}}}, "lower bound 2.0 is above"),
        ({"overall": {"pcop": {"minimum": 1}}}, "minimum"),
        ({"slices": [{"slice": [], "metrics": {"gauc": {"min": 0}}}]}, "slice"),
    ],
)
def test_faulty_gates_are_refused(content, message):
    with pytest.raises(ConfigError, match=message):
        gates(**content)


def test_gates_are_frozen():
    with pytest.raises(pydantic.ValidationError):
        PCOP.overall = {}

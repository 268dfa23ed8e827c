"""Verdicts of the gates on slices made by hand."""

import dataclasses
import math

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from components.gates import judge
from components.gates_config import (
    HIGHER_IS_BETTER,
    NOT_BY_INTERVAL,
    GatesConfig,
)
from components.metrics.names import CHANGES, METRICS
from components.metrics.results import (
    SIGN_UNRESOLVED,
    Counts,
    Estimate,
    SliceResult,
)
from data.errors import ConfigError
from data.settings import parse

MANY = 1e9  # effective users: Student's t is the normal distribution


def estimate(given):
    """An estimate of a value, of (value, standard error[, users]), or of a reason."""
    if isinstance(given, str):
        return Estimate(None, reason=given)
    if isinstance(given, tuple):
        value, error, *users = given
        return Estimate(value, None, None, error, users[0] if users else MANY)
    return Estimate(given)


def result(key=None, rows=100_000, clicks=5_000, delta=None, baseline=None, **values):
    """A slice whose metrics are ``values``; text is the reason of an undefined one."""

    def estimates(given, names):
        return {name: estimate(given.get(name, "not given")) for name in names}

    return SliceResult(
        slice=key or {},
        counts=Counts(rows=rows, clicks=clicks),
        metrics=estimates(values, METRICS),
        baseline=None if delta is None else estimates(baseline or {}, METRICS),
        delta=None if delta is None else estimates(delta, CHANGES),
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
    assert [check.interval for check in verdict.checks] == [None, None]


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
    assert verdict.checks[0].against == "baseline"


def test_an_unresolved_change_is_undecided_and_does_not_bless():
    one = gates(overall={"abs_log_pcop": {"max_change": 0.0}})
    delta = {"abs_log_pcop": SIGN_UNRESOLVED}
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
        ({"min_rows": 2000}, {"rows": 1999}, 0.5, "skipped"),
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
        "against": None,
        "value": 1.2,
        "interval": None,
        "rows": 100_000,
        "clicks": 5_000,
        "status": "fail",
        "allowed": False,
        "reason": "1.2 is above 1.05",
    }


# The one-sided 95 % quantile of the normal distribution, from its tables.
Z95 = 1.6449


@pytest.mark.parametrize(
    ("change", "error", "margin", "status"),
    [
        # Lower end -0.005 - 1.6449 * 0.002 = -0.00829.
        (-0.005, 0.002, 0.0083, "pass"),
        (-0.005, 0.002, 0.0082, "undecided"),
        # Upper end -0.005 + 0.00329 = -0.00171.
        (-0.005, 0.002, 0.0018, "undecided"),
        (-0.005, 0.002, 0.0017, "fail"),
        (0.01, 0.002, 0.0, "pass"),
        (0.0, 0.002, 0.0, "undecided"),
        # Identical models.
        (0.0, 0.0, 0.0, "pass"),
        (-0.01, 0.0, 0.01, "pass"),
        (-0.011, 0.0, 0.01, "fail"),
    ],
)
@pytest.mark.parametrize("metric", ["gauc", "log_loss"])
def test_non_inferiority_by_the_one_sided_interval(
    metric, change, error, margin, status
):
    change = change if HIGHER_IS_BETTER[metric] else -change
    one = gates(overall={metric: {"non_inferior": margin}})
    delta = {metric: (change, error)}
    verdict = judge([result(**{metric: 0.7}, delta=delta)], one)
    assert statuses(verdict) == [status]
    assert verdict.blessed == (status == "pass")
    check = verdict.checks[0]
    ends = (change - Z95 * error, change + Z95 * error)
    assert check.interval == pytest.approx(ends, abs=1e-6)
    assert check.value == change


def test_few_users_widen_the_interval_and_fewer_than_five_leave_it_undecided():
    one = gates(overall={"gauc": {"non_inferior": 0.01}})
    # t at 4 degrees of freedom and one-sided 95 %, from tables: 2.132.
    check = judge([result(gauc=0.7, delta={"gauc": (0.0, 0.004, 5)})], one).checks[0]
    assert check.interval == pytest.approx((-0.008528, 0.008528), abs=1e-6)
    assert check.status == "pass"
    few = judge([result(gauc=0.7, delta={"gauc": (0.0, 0.004, 4.9)})], one).checks[0]
    assert (few.status, few.interval) == ("undecided", None)
    assert few.reason == "0, no interval: 4.9 effective users, fewer than 5"
    none = judge([result(gauc=0.7, delta={"gauc": 0.0})], one).checks[0]
    assert (none.status, none.reason) == ("undecided", "0, no standard error")


@pytest.mark.parametrize("name", ["pcop", "pr_auc", "ece"])
def test_non_inferiority_is_refused_where_no_interval_could_decide(name):
    with pytest.raises(ConfigError, match=f"{name}.non_inferior: .*; use"):
        gates(overall={name: {"non_inferior": 0.5}})


@pytest.mark.parametrize(
    ("candidate", "baseline", "change", "margin", "status"),
    [
        # Closeness to 1 got better without doubt, though the candidate's sign is open:
        # abs(log) 0.3 -> at most 0.01 + 2.4 * 0.01.
        ((0.01, 0.01), (0.3, 0.01), (-0.29, 0.005), 0.0, "pass"),
        # And worse without doubt.
        ((0.3, 0.01), (0.01, 0.01), (0.29, 0.005), 0.2, "fail"),
        # The change of log PCOP is at most 0.002 + 2.4 * 0.001 in size, so the change
        # of its distance from 0 is, too, wherever the two lie.
        ((0.001, 0.05), (-0.001, 0.05), (0.002, 0.001), 0.005, "pass"),
        ((0.001, 0.05), (-0.001, 0.05), (0.002, 0.001), 0.003, "undecided"),
    ],
)
def test_non_inferior_calibration(candidate, baseline, change, margin, status):
    def pcop(log, error):
        return {"pcop": (math.exp(log), error), "abs_log_pcop": (abs(log), error)}

    one = gates(overall={"abs_log_pcop": {"non_inferior": margin}})
    delta = {"log_pcop": change, "abs_log_pcop": SIGN_UNRESOLVED}
    slices = [result(**pcop(*candidate), baseline=pcop(*baseline), delta=delta)]
    assert statuses(judge(slices, one)) == [status]


def pcop_slice(name, log, error, clicks=500):
    return result({"device": name}, clicks=clicks, pcop=(math.exp(log), error))


def band(**bounds):
    return gates(slices=[{"slice": ["device"], "metrics": {"pcop": bounds}}])


# Normal quantiles at two-sided 95 %, and 95 % shared by two and by three slices.
Z_ONE, Z_TWO, Z_THREE = 1.95996, 2.24140, 2.39398
LOG_11 = math.log(1.1)  # 0.09531; the band 1/1.1 to 1.1 is even on the log scale


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        # 0.09531 - 1.95996 * 0.04 = 0.01691 and 0.09531 + 0.07840 = 0.17371.
        (0.0169, ["pass", "pass"]),
        (0.0170, ["pass", "undecided"]),
        (0.1737, ["pass", "undecided"]),
        (0.1738, ["pass", "fail"]),
        (-0.0170, ["undecided", "pass"]),
        (-0.1738, ["fail", "pass"]),
    ],
)
def test_pcop_of_few_clicks_goes_by_its_interval(log, expected):
    one = band(min=1 / 1.1, max=1.1)
    slices = [result(), pcop_slice("a", log, 0.04, clicks=4_999)]
    verdict = judge(slices, one)
    assert statuses(verdict) == expected
    ends = (math.exp(log - Z_ONE * 0.04), math.exp(log + Z_ONE * 0.04))
    assert verdict.checks[0].interval == pytest.approx(ends, rel=1e-5)


def test_pcop_of_many_clicks_counts_as_measured():
    one = band(min=1 / 1.1, max=1.1)
    slices = [result(), pcop_slice("a", 0.08, 0.04, clicks=5_000)]
    assert statuses(judge(slices, one)) == ["pass", "pass"]


def test_one_bound_is_one_sided():
    # 1.1 - one-sided 1.6449 * 0.04 on the log scale: 0.09531 - 0.06580 = 0.02951.
    for log, status in ((0.0295, "pass"), (0.0296, "undecided")):
        slices = [result(), pcop_slice("a", log, 0.04)]
        assert statuses(judge(slices, band(max=1.1))) == [status]
    assert statuses(judge([result(), pcop_slice("a", 0.5, 0.04)], band(min=0.9))) == [
        "pass"
    ]


def test_slices_of_one_gate_share_the_level_step_by_step():
    # Two-sided p beyond log 1.1: z = (log - 0.09531) / 0.04.
    # a: z = 2.40, p = 0.0164 <= 0.05 / 3: fails at 0.05 / 3.
    # b: z = 2.30, p = 0.0214 <= 0.05 / 2: fails, though not at 0.05 / 3.
    # c: z = 1.90, p = 0.0574 >  0.05 / 1: stays, held at 0.05.
    logs = {"a": 2.40, "b": 2.30, "c": 1.90}
    slices = [
        result(),
        *(pcop_slice(name, LOG_11 + z * 0.04, 0.04) for name, z in logs.items()),
    ]
    verdict = judge(slices, band(min=1 / 1.1, max=1.1))
    upper = {c.slice["device"]: c for c in verdict.checks if c.kind == "max"}
    assert {name: check.status for name, check in upper.items()} == {
        "a": "fail",
        "b": "fail",
        "c": "undecided",
    }
    for name, quantile in (("a", Z_THREE), ("b", Z_TWO), ("c", Z_ONE)):
        log = LOG_11 + logs[name] * 0.04
        low, _ = upper[name].interval
        assert math.log(low) == pytest.approx(log - quantile * 0.04, abs=1e-6)


def test_without_a_failure_all_slices_share_the_level_evenly():
    # z = 2.30 alone would fail (p = 0.0214); of three slices it needs p <= 0.0167.
    slices = [
        result(),
        pcop_slice("a", LOG_11 + 2.30 * 0.04, 0.04),
        pcop_slice("b", 0.0, 0.01),
        pcop_slice("c", 0.0, 0.01),
        # Neither large slices nor those that are skipped are part of the family.
        pcop_slice("large", 0.0, 0.01, clicks=5_000),
        pcop_slice("tiny", 3.0, 0.01, clicks=99),
    ]
    verdict = judge(slices, band(min=1 / 1.1, max=1.1))
    found = {c.slice["device"]: c for c in verdict.checks if c.kind == "max"}
    assert [check.status for check in found.values()] == [
        "undecided",
        "pass",
        "pass",
        "pass",
        "skipped",
    ]
    high = math.log(found["b"].interval[1])
    assert high == pytest.approx(Z_THREE * 0.01, abs=1e-6)


def test_the_family_keeps_its_level_when_every_model_is_on_the_bound():
    # 20 slices whose PCOP is truly 1.1: any failure is wrong, in 5 % of families.
    import numpy as np

    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(400):
        draws = LOG_11 + 0.04 * rng.standard_normal(20)
        slices = [result(), *(pcop_slice(f"{i}", z, 0.04) for i, z in enumerate(draws))]
        verdict = judge(slices, band(min=1 / 1.1, max=1.1))
        wrong += "fail" in statuses(verdict)
    # Above the bound only one tail errs: 2.5 % of 400 is 10, with a binomial spread.
    assert wrong <= stats.binom(400, 0.025).ppf(0.9999)


@pytest.mark.parametrize(
    ("log", "bound", "status"),
    [
        # Two-sided at 0.04: the far end of abs(log) is 0.02 + 0.0784 = 0.0984.
        (-0.02, 0.0985, "pass"),
        (-0.02, 0.0983, "undecided"),
        # The near end is 0.2 - 0.0784 = 0.1216.
        (-0.2, 0.1217, "undecided"),
        (-0.2, 0.1215, "fail"),
    ],
)
def test_abs_log_pcop_of_few_clicks_goes_by_the_same_interval(log, bound, status):
    one = gates(overall={"abs_log_pcop": {"max": bound}})
    values = {"pcop": (math.exp(log), 0.04), "abs_log_pcop": (abs(log), 0.04)}
    assert statuses(judge([result(clicks=500, **values)], one)) == [status]


@pytest.mark.parametrize(
    ("pcop", "status"),
    [((1.0, None), "undecided"), ((1.0, 0.01, 4), "undecided"), ((0.0, None), "fail")],
)
def test_pcop_without_an_interval(pcop, status):
    one = gates(overall={"pcop": {"min": 0.95}})
    assert statuses(judge([result(clicks=500, pcop=pcop)], one)) == [status]


@pytest.mark.parametrize("where", ["overall", "slices", "reference"])
def test_undecided_blesses_only_where_it_is_allowed(where):
    metrics = {"gauc": {"non_inferior": 0.0}}
    content = {
        "overall": {"overall": metrics},
        "slices": {"slices": [{"slice": ["device"], "metrics": metrics}]},
        "reference": {"reference": metrics},
    }[where]
    delta = {"gauc": (0.0, 0.01)}
    slices = [
        result(gauc=0.7, delta=delta),
        result({"device": "a"}, gauc=0.7, delta=delta),
    ]
    plain = judge(slices, gates(**content), slices)
    assert (plain.blessed, statuses(plain)) == (False, ["undecided"])
    assert plain.reason == "not blessed: 1 undecided of 1 checks"
    allowed = {
        "overall": {"allow_undecided": True},
        "slices": {
            "slices": [content.get("slices", [{}])[0] | {"allow_undecided": True}]
        },
        "reference": {"reference_allow_undecided": True},
    }
    for place, setting in allowed.items():
        if place == "slices" and where != "slices":
            continue
        verdict = judge(slices, gates(**(content | setting)), slices)
        assert verdict.blessed == (place == where)
        assert statuses(verdict) == ["undecided"]
    mine = judge(slices, gates(**(content | allowed[where])), slices)
    assert mine.reason == (
        "blessed: 0 of 1 checks passed, 1 undecided, which is allowed"
    )


DRIFT = gates(
    overall={"gauc": {"non_inferior": 0.01}}, reference={"gauc": {"non_inferior": 0.01}}
)


def test_small_losses_a_day_add_up_against_the_reference():
    daily = result(gauc=0.7, delta={"gauc": (-0.005, 0.001)})
    pinned = result(gauc=0.7, delta={"gauc": (-0.02, 0.001)})
    verdict = judge([daily], DRIFT, [pinned])
    assert [(check.against, check.status) for check in verdict.checks] == [
        ("baseline", "pass"),
        ("reference", "fail"),
    ]
    assert not verdict.blessed


def test_a_first_run_is_held_against_the_reference():
    pinned = result(gauc=0.7, delta={"gauc": (0.0, 0.001)})
    verdict = judge([result(gauc=0.7)], DRIFT, [pinned])
    assert statuses(verdict) == ["skipped", "pass"]
    assert verdict.blessed


def test_a_reference_that_was_not_evaluated_is_undecided():
    daily = result(gauc=0.7, delta={"gauc": (0.0, 0.001)})
    verdict = judge([daily], DRIFT)
    assert statuses(verdict) == ["pass", "undecided"]
    assert verdict.checks[1].reason == "no reference model was evaluated"


def test_a_first_run_without_any_check_is_blessed_only_on_request():
    changes = {"overall": {"gauc": {"min_change": -0.01}}}
    verdict = judge([result(gauc=0.7)], gates(**changes))
    assert verdict.reason == (
        "not blessed: no check could be made, all 1 were skipped; add a bound on a value,"
        " or bless the first model with gates.bless_first; first run: no baseline to "
        "compare with"
    )
    assert not verdict.blessed
    asked = judge([result(gauc=0.7)], gates(bless_first=True, **changes))
    assert asked.blessed
    assert asked.reason.startswith("blessed by gates.bless_first: no check")


def test_bless_first_neither_helps_a_failed_check_nor_a_later_run():
    failing = gates(
        bless_first=True, overall={"gauc": {"min": 0.8, "min_change": -0.01}}
    )
    assert not judge([result(gauc=0.7)], failing).blessed
    skipping = gates(bless_first=True, slices=[SLICED])
    key = {"device": "ios", "hour": 7}
    later = [result(delta={}), result(key, clicks=1, gauc=0.9, delta={})]
    verdict = judge(later, skipping)
    assert not verdict.blessed
    assert verdict.reason.endswith("all 1 were skipped; add a gate over all rows")


IDENTICAL = dict.fromkeys(CHANGES, (0.0, 0.0)) | {
    "ece": 0.0,
    "abs_log_pcop": SIGN_UNRESOLVED,
}


@given(st.floats(0, 1), st.sampled_from([0, 1, 5_000]))
def test_identical_models_pass_every_gate_on_changes(margin, clicks):
    every = {
        name: {"min_change": -margin, "max_change": margin}
        | ({} if name in NOT_BY_INTERVAL else {"non_inferior": margin})
        for name in METRICS
    }
    values = dict.fromkeys(METRICS, 0.7)
    one = result(clicks=clicks, delta=IDENTICAL, baseline=values, **values)
    sliced = dataclasses.replace(one, slice={"device": "a"})
    verdict = judge(
        [one, sliced],
        gates(
            overall=every,
            reference=every,
            slices=[{"slice": ["device"], "metrics": every, "min_clicks": 0}],
        ),
        [one],
    )
    assert set(statuses(verdict)) == {"pass"}
    assert verdict.blessed


slice_values = st.tuples(
    st.floats(-0.5, 0.5), st.floats(0.0, 0.2), st.sampled_from([50, 400, 6_000])
)


@given(st.lists(slice_values, min_size=1, max_size=8), st.randoms())
def test_the_verdict_does_not_depend_on_the_order_of_slices(drawn, random):
    slices = [
        result(pcop=(1.0, 0.01)),
        *(
            pcop_slice(str(number), log, error, clicks)
            for number, (log, error, clicks) in enumerate(drawn)
        ),
    ]
    one = band(min=0.9, max=1.1)
    verdict = judge(slices, one)
    shuffled = list(slices)
    random.shuffle(shuffled)
    again = judge(shuffled, one)
    assert (again.blessed, again.reason) == (verdict.blessed, verdict.reason)

    def by_slice(found):
        return sorted(found.checks, key=lambda check: (str(check.slice), check.kind))

    assert by_slice(again) == by_slice(verdict)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"overall": {"gacu": {"min": 0}}}, "unknown metric 'gacu'.*mean 'gauc'"),
        ({"overall": {"gauc": {}}}, "needs one of min"),
        ({"overall": {"pcop": {"min": 2, "max": 1}}}, "lower bound 2.0 is above"),
        ({"overall": {"pcop": {"minimum": 1}}}, "minimum"),
        ({"slices": [{"slice": [], "metrics": {"gauc": {"min": 0}}}]}, "slice"),
        (
            {"overall": {"gauc": {"non_inferior": -0.1}}},
            "non_inferior: must be >= 0, got -0.1",
        ),
        (
            {"overall": {"pcop": {"non_inferior": 0.1}}},
            "pcop.non_inferior: .*use abs_log_pcop",
        ),
        ({"overall": {"abs_log_pcop": {"min": 0.1}}}, "min: 0 is best; use max"),
        ({"reference": {"gauc": {"min": 0.1}}}, "unknown key 'min'"),
        ({"reference": {"gauc": {}}}, "needs one of min_change"),
        ({"reference": {"pcop": {"non_inferior": 0.1}}}, "use abs_log_pcop"),
    ],
)
def test_faulty_gates_are_refused(content, message):
    with pytest.raises(ConfigError, match=message):
        gates(**content)


def test_gates_are_frozen():
    with pytest.raises(pydantic.ValidationError):
        PCOP.overall = {}

"""Presence, new values, ids without a bucket, skew and drift of columns."""

from itertools import chain

import pyarrow as pa

from components.data_checks.codes import category_codes
from components.data_checks.config import DataChecksConfig
from components.data_checks.shifts import shift_findings
from components.data_checks.values import value_findings

DAY = 86_400
ITEM = {"name": "item", "kind": "categorical", "buckets": 9}
SLOT = {"name": "slot", "kind": "categorical", "encoding": "identity", "buckets": 3}
PRICE = {"name": "price", "kind": "numeric"}


def of(findings, check):
    return {
        (one.subject, one.place): (one.found, one.status)
        for one in findings
        if one.check == check
    }


def repeat(count, **row):
    return [{"click": 0} | row] * count


def test_a_column_that_hardly_any_row_has_is_named_with_its_shard(declare, tally_of):
    train = repeat(1, price=1.0) + repeat(199)
    tally = tally_of(declare(PRICE), train, repeat(50, price=1.0))
    findings = list(value_findings(tally, DataChecksConfig(), ()))
    assert of(findings, "presence") == {
        ("price", "train"): (0.005, "warn"),
        ("price", "eval"): (1.0, "pass"),
    }
    assert "1 of 200 rows have a value (0.50%), at least 1.00% expected" in str(
        findings[0]
    )
    assert "Split-train/0.gz has fewest (1 of 200)" in str(findings[0])


def test_ids_outside_their_buckets_are_counted(declare, tally_of):
    train = repeat(6, slot=2) + repeat(1, slot=3) + repeat(1, slot=-1) + repeat(9)
    tally = tally_of(declare(SLOT), train, repeat(8, slot=0))
    findings = list(value_findings(tally, DataChecksConfig(), ()))
    assert of(findings, "outside") == {("slot", "Split-train/0.gz"): (2 / 16, "warn")}


def test_values_never_seen_count_beyond_what_rare_ones_explain(declare, tally_of):
    known = [row for text in (b"a", b"b") for row in repeat(50, item=text)]
    evaluated = repeat(5, item=b"a") + repeat(5, item=b"new")
    config = DataChecksConfig()
    tally = tally_of(declare(ITEM), known, evaluated)
    share, status = of(value_findings(tally, config, ()), "unseen")["item", "eval"]
    # Two of 65,536 codes are taken.
    assert share == 0.5 / (1 - 2 / 65_536)
    assert status == "warn"
    # Every training row has a value of its own, so new ones are the rule.
    alone = [{"click": 0, "item": b"id-%d" % number} for number in range(100)]
    tally = tally_of(declare(ITEM), alone, evaluated)
    assert of(value_findings(tally, config, ()), "unseen")["item", "eval"][1] == "pass"


def test_values_with_a_domain_and_ids_of_users_are_left_out(declare, tally_of):
    user = {"name": "user", "kind": "categorical", "buckets": 9}
    dataset = declare(ITEM, user, user_id="user")
    rows = repeat(5, item=b"a", user=b"u")
    findings = value_findings(
        tally_of(dataset, rows, rows), DataChecksConfig(), {"item"}
    )
    assert of(findings, "unseen") == {}


def test_a_shifted_column_is_named_with_the_value_that_moved(declare, tally_of):
    def split(*counts):
        parts = zip((b"a", b"b", b"c"), counts, strict=True)
        return list(chain(*(repeat(n, item=text, price=1.0) for text, n in parts)))

    tally = tally_of(declare(ITEM, PRICE), split(400, 500, 100), split(500, 50, 450))
    config = DataChecksConfig.model_validate({"skew": {"level": "fail"}})
    code = int(category_codes(pa.array([b"b"], pa.binary()))[0])
    moved, still, days = shift_findings(tally, config, {"item": {code: "b"}})
    assert (moved.subject, moved.status) == ("item", "fail")
    assert "('b' in 50.0% of rows, then 5.0%)" in moved.text
    assert (still.subject, still.found, still.status) == ("price", 0.0, "pass")
    assert (days.check, days.status) == ("drift", "skipped")


def test_a_value_that_may_not_be_shown_stays_unnamed(declare, tally_of):
    train = repeat(400, item=b"10.0.0.1") + repeat(100, item=b"10.0.0.2")
    evaluated = repeat(250, item=b"10.0.0.2") + repeat(250, item=b"10.0.0.3")
    tally = tally_of(declare(ITEM), train, evaluated)
    (moved, _) = shift_findings(tally, DataChecksConfig(), {})
    assert "(one value in 80.0% of rows, then 0.0%)" in moved.text
    assert "10.0.0" not in moved.text


def test_a_column_that_turns_empty_has_no_value(declare, tally_of):
    full, empty = repeat(200, item=b"a") + repeat(200, item=b"b"), repeat(400, item=b"")
    (moved, _) = shift_findings(
        tally_of(declare(ITEM), full, empty), DataChecksConfig(), {}
    )
    assert "(no value in 0.0% of rows, then 100.0%)" in moved.text


def test_skew_is_found_among_rows_without_a_user(declare, tally_of):
    dataset = declare(ITEM, user_id="user")
    train = repeat(900, item=b"a", user=b"") + repeat(100, item=b"b", user=b"")
    evaluated = repeat(100, item=b"a", user=b"") + repeat(900, item=b"b", user=b"")
    found = of(
        shift_findings(tally_of(dataset, train, evaluated), DataChecksConfig(), {}),
        "skew",
    )
    assert found["item", "train against eval"][1] == "warn"


def test_the_last_day_is_compared_with_the_days_before(declare, tally_of):
    def day(number, *counts):
        rows = [
            repeat(n, item=b"%d" % i, ts=number * DAY) for i, n in enumerate(counts)
        ]
        return list(chain(*rows))

    dataset = declare(ITEM, timestamp="ts")
    train = day(0, 300, 100) + day(1, 300, 100) + day(2, 100, 300)
    tally = tally_of(dataset, train, day(3, 500, 500))
    found = of(shift_findings(tally, DataChecksConfig(), {}), "drift")
    ((share, status),) = found.values()
    # Shares 3/4 and 1/4 against 1/4 and 3/4: 1 - H(1/4) / H(1/2), H in bits.
    assert round(share, 4) == round(1 - 0.8112781, 4)
    assert status == "warn"


def test_checks_that_are_off_find_nothing(declare, tally_of):
    names = ("presence", "unseen", "outside", "skew", "drift")
    config = DataChecksConfig.model_validate({name: {"level": "off"} for name in names})
    rows = repeat(5, item=b"a", slot=9)
    tally = tally_of(declare(ITEM, SLOT), rows, rows)
    assert not list(value_findings(tally, config, ()))
    assert not list(shift_findings(tally, config, {}))

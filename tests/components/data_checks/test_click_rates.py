"""Click rates of days and of the evaluated rows."""

import math

import pytest
from scipy.stats import norm

from components.data_checks.click_rates import (
    click_rate_findings,
    click_rates,
    day_name,
)
from components.data_checks.config import ClickRate

DAY = 86_400
ITEM = {"name": "item", "kind": "categorical", "buckets": 9}


def day_of(number, rows, clicks, users=None):
    return [
        {
            "click": int(index < clicks),
            "ts": number * DAY + index,
            "user": b"%d" % (index % (users or rows)),
            "item": b"a",
        }
        for index in range(rows)
    ]


def test_rates_are_compared_with_the_allowance_by_hand(declare, tally_of):
    train = day_of(0, 1000, 100) + day_of(1, 1000, 100)
    tally = tally_of(declare(ITEM, timestamp="ts"), train, day_of(2, 1000, 200))
    found = {one.place: one for one in click_rate_findings(tally, ClickRate())}
    assert set(found) == {
        "eval",
        "eval on 1970-01-03",
        "train on 1970-01-01",
        "train on 1970-01-02",
    }
    evaluated = found["eval"]
    # 20 % against 10 %; both together 400 clicks of 3000 rows; four comparisons, two
    # sides each.
    p = 400 / 3000
    error = math.sqrt((1 - p) / p * (1 / 1000 + 1 / 2000))
    assert evaluated.found == pytest.approx(1.0)
    assert evaluated.limit == pytest.approx(0.3 + norm.isf(0.01 / 8) * error)
    assert evaluated.status == "warn"
    assert found["train on 1970-01-02"].found == 0.0
    assert found["train on 1970-01-02"].status == "pass"


def test_a_day_without_any_click_warns(declare, tally_of):
    train = day_of(0, 2000, 200) + day_of(1, 2000, 0)
    tally = tally_of(declare(ITEM, timestamp="ts"), train, day_of(2, 2000, 100))
    found = {one.place: one.status for one in click_rate_findings(tally, ClickRate())}
    assert found["train on 1970-01-02"] == "warn"


def test_days_of_few_clicks_are_left_out(declare, tally_of):
    train = day_of(0, 1000, 100) + day_of(1, 3, 3)
    tally = tally_of(declare(ITEM, timestamp="ts"), train, day_of(2, 1000, 100))
    places = {one.place for one in click_rate_findings(tally, ClickRate())}
    assert "train on 1970-01-02" not in places
    assert [one["rows"] for one in click_rates(tally)] == [1000, 1000, 3]


def test_rows_of_few_users_count_as_their_users(declare, tally_of):
    dataset = declare(ITEM, timestamp="ts", user_id="user")
    days = (day_of(0, 4000, 800, users=100), day_of(2, 4000, 1200, users=100))
    (found, *_) = click_rate_findings(tally_of(dataset, *days), ClickRate())
    # Half as much again is beyond chance for 4000 rows, but not for 100 users.
    assert found.found == pytest.approx(0.5)
    assert found.status == "pass"


def test_rows_without_a_user_count_each(declare, tally_of):
    dataset = declare(ITEM, timestamp="ts", user_id="user")
    days = [
        [row | {"user": b""} for row in day_of(number, 4000, clicks)]
        for number, clicks in ((0, 800), (2, 1200))
    ]
    (found, *_) = click_rate_findings(tally_of(dataset, *days), ClickRate())
    # 2000 clicks of 8000 rows; of three places two have rows to be compared with.
    error = math.sqrt(3 * (1 / 4000 + 1 / 4000))
    assert found.limit == pytest.approx(0.3 + norm.isf(0.01 / 4) * error)
    assert found.status == "warn"


def test_a_log_without_clicks_is_skipped(declare, tally_of):
    rows = day_of(0, 50, 0)
    (found,) = click_rate_findings(tally_of(declare(ITEM), rows, rows), ClickRate())
    assert found.status == "skipped"


def test_a_day_beyond_the_calendar_has_its_number():
    assert day_name(20_000) == "2024-10-04"
    assert day_name(10**9) == "day 1000000000"

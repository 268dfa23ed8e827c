"""How many independent draws the rows of a group stand for."""

import pytest

from components.data_checks.tally import EARLIER, EVAL, LAST_DAY

DAY = 86_400
ITEM = {"name": "item", "kind": "categorical", "buckets": 9}


def rows_of(*users, day=0):
    return [{"click": 0, "item": b"a", "user": one, "ts": day * DAY} for one in users]


def test_rows_without_a_user_id_are_a_draw_each(declare, tally_of):
    train = rows_of(*[b"a"] * 10, *[b"b"] * 5, *[b""] * 30)
    evaluated = rows_of(*[b""] * 7)
    tally = tally_of(declare(ITEM, user_id="user"), train, evaluated)
    # Two users and 30 rows of nobody; then 7 rows of nobody.
    assert tally.draws(EARLIER) == pytest.approx(2 + 30, rel=1e-5)
    assert tally.draws(EVAL) == pytest.approx(7)


def test_a_user_of_two_groups_is_one_draw_and_rows_without_a_user_add_up(
    declare, tally_of
):
    train = rows_of(b"a", b"a", b"b", b"") + rows_of(b"b", b"c", b"c", b"", b"", day=1)
    dataset = declare(ITEM, user_id="user", timestamp="ts")
    tally = tally_of(dataset, train, rows_of(b"a", day=2))
    assert tally.draws(EARLIER) == pytest.approx(2 + 1, rel=1e-5)
    assert tally.draws(LAST_DAY) == pytest.approx(2 + 2, rel=1e-5)
    assert tally.draws(EARLIER, LAST_DAY) == pytest.approx(3 + 3, rel=1e-5)


def test_rows_count_where_no_user_id_is_declared(declare, tally_of):
    tally = tally_of(declare(ITEM), rows_of(b"a", b"a", b""), rows_of(b"a"))
    assert tally.draws(EARLIER) == 3

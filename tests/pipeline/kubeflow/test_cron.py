"""Schedules as the server's parser takes them."""

import pytest

from pipeline.kubeflow.cron import cron_rule


@pytest.mark.parametrize(
    "text",
    [
        "0 0 4 * * *",
        "0 0/10 * * * ?",
        "*/5 0-30/10 1,2,3 1-31 JAN-dec Mon-FRI",
        "59 59 23 31 12 6",
    ],
)
def test_what_the_parser_reads_is_let_through(text):
    assert cron_rule(text) is None


@pytest.mark.parametrize(
    "text", ["", "0 4 * * *", "0 0 4 * * * *", "0  0 4 * * *", "@daily"]
)
def test_a_schedule_has_six_fields(text):
    assert "must be six fields" in cron_rule(text)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("60 * * * * *", "second '60'"),
        ("* 99 * * * *", "minute '99'"),
        ("* * 24 * * *", "hour '24'"),
        ("* * * 0 * *", "day of month '0'"),
        ("* * * * 13 *", "month '13'"),
        ("* * * * * 7", "day of week '7'"),
        ("a * * * * *", "second 'a'"),
        # Words of another field.
        ("* * * * mon *", "month 'mon'"),
        ("5-3 * * * * *", "second '5-3'"),
        ("*/0 * * * * *", "second '*/0'"),
        ("*/00 * * * * *", "second '*/00'"),
        ("1/2/3 * * * * *", "second '1/2/3'"),
        ("1-2-3 * * * * *", "second '1-2-3'"),
        ("1,,2 * * * * *", "second '1,,2'"),
        ("-1 * * * * *", "second '-1'"),
        ("\u0663 * * * * *", "second '\u0663'"),
        ("9999999999999999999 * * * * *", "second '9999999999999999999'"),
        ("* * * * * 1\n", "day of week '1\\n'"),
    ],
)
def test_the_field_that_is_out_of_its_bounds_is_named(text, field):
    assert cron_rule(text).startswith(f"{field}: must be")

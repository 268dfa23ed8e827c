"""The page as text: complete, self-contained, escaped."""

import dataclasses
import re

from components.report.page import render_page
from components.report.sections import sections


def own_markup(page):
    """The page without its scripts, whose source names addresses and tags."""
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_a_page_holds_everything_and_loads_nothing(content):
    page = render_page(content)
    assert len(page.encode()) < 8_000_000
    links = re.findall(r"(?:src|href)=\"([^\"]*)\"", own_markup(page))
    assert links
    assert {link[:5] for link in links if not link.startswith("#")} == {"data:"}


def test_hostile_text_stays_text(content):
    page = render_page(content)
    assert "&lt;script&gt;document.title=" in page
    assert "<script>document.title" not in page
    assert "<img" not in own_markup(page)
    # Three scripts of ours, three ends: none was closed early by the data.
    assert page.count("<script") - page.count("</script>") == 0


def test_every_failed_and_undecided_check_stands_at_the_top(content):
    page = own_markup(render_page(content))
    top = page[page.index('id="verdict"') : page.index('class="tiles"')]
    assert "GAUC at least 0.6: 0.58 is below 0.6" in top
    assert "undecided: device=web, GAUC loses at most 0.6 against the reference" in top
    assert "passed" not in top


def test_a_number_over_all_rows_comes_with_interval_users_and_change(content):
    page = " ".join(own_markup(render_page(content)).split())
    tiles = page[page.index('class="tiles"') : page.index('id="checks"')]
    for text in (
        "0.7000",
        "95 %: 0.6700 to 0.7300",
        "640 effective users",
        "change +0.0100 (95 %: -0.0100 to +0.0300)",
        "0.0041 if calibrated",
        "no clicks",
    ):
        assert text in tiles


def test_a_part_that_a_run_did_not_reach_says_why(failed):
    page = own_markup(render_page(failed))
    assert "clicks.csv:7: label: &lt;script&gt;" in page
    assert "Absent: the run did not reach Trainer." in page
    assert "Absent: ClickLogExampleGen failed." in page


def test_an_older_summary_without_curves_says_so(content):
    old = ("calibration", "curves", "field_calibration_error", "weight", "delta")
    slices = [
        {key: value for key, value in entry.items() if key not in old}
        for entry in content.summary["slices"]
    ]
    summary = content.summary | {"slices": slices}
    page = render_page(dataclasses.replace(content, summary=summary))
    assert "not recorded or undefined: calibration, scores by class, ROC" in page


def test_the_sections_are_there_in_order(content):
    keys = [section.key for section in sections(content)]
    assert keys == [
        "checks",
        "slices",
        "extremes",
        "calibration",
        "baseline",
        "data",
        "data-checks",
        "training",
        "cost",
        "lineage",
    ]


def test_of_many_slices_the_largest_are_shown_and_the_page_stays_small(content):
    first, second, *_ = content.summary["slices"]
    many = [
        second | {"slice": {"item": f"i{number}"}, "rows": number}
        for number in range(1, 3_001)
    ]
    summary = content.summary | {"slices": [first, *many]}
    page = render_page(dataclasses.replace(content, summary=summary))
    assert len(page.encode()) < 8_000_000
    assert "The 1,000 slices with most rows of 3,001" in page
    assert "item=i3000" in page
    assert "item=i100<" not in page

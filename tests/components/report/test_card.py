"""The model card: the report's numbers in Markdown."""

import dataclasses
import re

from components.report.card import markdown, render_card


def cells(line):
    """The cells of a table row, split at bars that are not escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_a_card_has_the_sections_of_a_model_card(content):
    heads = re.findall(r"^## (.*)$", render_card(content), flags=re.MULTILINE)
    assert heads == [
        "Model details",
        "Intended use",
        "Data",
        "Metrics",
        "Slices",
        "Checks",
        "Caveats",
        "Reproduce",
    ]


def test_metrics_stand_with_interval_and_change(content):
    lines = render_card(content).splitlines()
    gauc = next(cells(line) for line in lines if line.startswith("| GAUC"))
    assert gauc[:5] == [
        "GAUC",
        "0.7000",
        "0.6700 to 0.7300",
        "+0.0100",
        "-0.0100 to +0.0300",
    ]


def test_each_slice_is_one_row_whatever_its_name(content):
    text = render_card(content)
    table = text[text.index("## Slices") : text.index("## Checks")]
    rows = [line for line in table.splitlines() if line.startswith("| device")]
    assert len(rows) == len(content.summary["slices"]) - 1
    assert {len(cells(row)) for row in rows} == {5}
    assert "<" not in table


def test_text_is_escaped_for_markdown():
    assert markdown("a|b`c*d_e\n# <i>") == r"a\|b\`c\*d\_e # &lt;i&gt;"


def test_the_card_of_a_failed_run_says_what_is_absent(failed):
    text = render_card(failed)
    assert "**Run failed**: clicks.csv:7: label: &lt;script&gt;" in text
    assert "Absent: ClickLogExampleGen failed." in text
    assert "Absent: the run did not reach Trainer." in text


def test_data_checks_that_warned_stand_in_the_card(content):
    finding = {"check": "leakage", "subject": "dwell", "status": "warn"}
    checks = {"reason": "1 warned", "findings": [finding]}
    warned = dataclasses.replace(
        content, summary=content.summary | {"data_checks": checks}
    )
    assert "\ndata checks warned: leakage of dwell.\n" in render_card(warned)

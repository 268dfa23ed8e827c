"""What the terminal and the report show of the checks."""

import io

import pytest
from rich.console import Console

from components.data_checks.config import Shift
from components.data_checks.findings import DataChecksResult, finding, skipped
from components.report.content import Content
from components.report.data_checks_section import data_checks_section
from pipeline.cli.tables import data_check_table


def shift(name, bits, level="warn"):
    return finding(
        "skew",
        Shift(level=level),
        name,
        "train against eval",
        bits,
        "some text",
        is_bad=bits > 0.05,
    )


@pytest.fixture
def checks():
    findings = [shift("a", 0.01), shift("[red]b\n", 0.2), shift("c", 0.3, "fail")]
    findings += [shift(f"d{number}", 0.001) for number in range(12)]
    findings.append(skipped("drift", Shift(), "rows", "last day", "no timestamp"))
    return DataChecksResult(rows=1000, findings=findings, click_rates=[]).to_json()


def test_the_terminal_shows_what_warned_or_failed(checks):
    stream = io.StringIO()
    Console(file=stream, width=120).print(data_check_table(checks))
    lines = stream.getvalue().splitlines()
    shown = [line for line in lines if "skew" in line]
    assert len(shown) == 2
    assert r"[red]b\n" in shown[0]
    assert "0.2" in shown[0]
    assert "fail" in shown[1]


def test_nothing_is_shown_where_all_passed(checks):
    checks["findings"] = [one for one in checks["findings"] if one["status"] == "pass"]
    assert data_check_table(checks) is None


def test_the_report_has_all_checks_and_the_ten_largest_shifts(checks):
    section = data_checks_section(Content(summary={"data_checks": checks}))
    shifts, everything = section.tables
    assert section.notes == ["1 failed, 1 warned, 13 passed, 1 skipped, on 1,000 rows."]
    assert [row[0].text for row in shifts.rows][:3] == ["c", "[red]b\n", "a"]
    assert len(shifts.rows) == 10
    assert len(everything.rows) == 16
    assert [row[0].mark for row in everything.rows][:3] == ["fail", "undecided", "pass"]


def test_the_report_tells_why_there_are_no_checks():
    content = Content(summary={}, absent={"data_checks": "DataChecks failed"})
    assert data_checks_section(content).absent == ["DataChecks failed"]


def test_the_refusal_names_five_checks_and_counts_the_rest():
    failed = [shift(f"f{number}", 0.2, "fail") for number in range(7)]
    result = DataChecksResult(rows=1, findings=failed, click_rates=[])
    assert "'f4'" in result.refusal
    assert "'f5'" not in result.refusal
    assert "and 2 more. Mend the log" in result.refusal


def test_the_refusal_also_names_what_warned():
    found = [shift("a", 0.2, "fail"), shift("b", 0.2), shift("c", 0.01)]
    text = DataChecksResult(rows=1, findings=found, click_rates=[]).refusal
    before, _, behind = text.partition("(warned besides: ")
    assert "'a'" in before
    assert "'b'" in behind
    assert "'c'" not in text


@pytest.mark.engine
@pytest.mark.parametrize("enabled", [True, False])
def test_transform_waits_for_the_checks_unless_they_are_off(enabled):
    from pipeline.config import load
    from pipeline.pipeline import Locations, create_pipeline

    config = load(preset="demo")
    checks = config.data_checks.model_copy(update={"enabled": enabled})
    config = config.model_copy(update={"data_checks": checks})
    locations = Locations(input_base="in", pipeline_root="root", serving="serving")
    nodes = {
        node.id: node for node in create_pipeline(config, locations, []).components
    }
    upstream = {node.id for node in nodes["Transform"].upstream_nodes}
    assert ("DataChecks" in upstream) is enabled
    assert ("DataChecks" in nodes) is enabled

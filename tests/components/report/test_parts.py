"""Charts, tables and texts of the report."""

import math

import pytest

from components.report.chart import figure, label, plain
from components.report.curve_charts import calibration_chart, score_chart
from components.report.headline import data_warnings
from components.report.run_tables import cost_table, epoch_table, feature_table
from components.report.slice_charts import MOST_SLICES, metric_charts
from components.report.slice_tables import extreme_tables
from components.report.text import check_rule, interval, moment, number, short
from components.report.training_charts import training_charts


def entry(name, gauc, clicks):
    values = {"device": name} if name else {}
    known = {"value": gauc, "ci95": None, "reason": None}
    metrics = {"gauc": known, "pcop": known | {"value": 1.0}}
    metrics["abs_log_pcop"] = known | {"value": 1.0 - gauc}
    return {"slice": values, "clicks": clicks, "metrics": metrics}


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [(None, ".4f", "-"), (-0.00001, "+.4f", "0.0000"), (-0.5, "+.2f", "-0.50")],
)
def test_a_number_that_rounds_to_zero_has_no_sign(value, form, text):
    assert number(value, form) == text


def test_numbers_of_any_size_are_short():
    assert [short(one) for one in (280_000, 0.055624, 23.132, 1736435113.39)] == [
        "280,000",
        "0.05562",
        "23.13",
        "1,736,435,113",
    ]


def test_texts_of_intervals_rules_and_times():
    assert interval({"ci95": [0.68, 0.72]}) == "0.6800 to 0.7200"
    assert interval({"ci95": None}) == interval(None) == ""
    check = {"metric": "pcop", "kind": "new_kind", "bound": 1.1, "against": "reference"}
    assert check_rule(check) == "PCOP new kind 1.1 against the reference"
    assert moment(86_400 + 3_600) == "1970-01-02 01:00 UTC"


def test_text_from_data_has_no_tags_in_a_chart():
    assert plain("<b>&") == "&lt;b&gt;&amp;"
    assert label("<" + "x" * 100) == "&lt;" + "x" * 22 + "…"
    assert label("a=1, b=<br>") == "a=1<br>b=&lt;br&gt;"


def test_a_figure_has_null_where_a_number_is_not_finite():
    trace = {"type": "scatter", "y": [1.0, math.nan, math.inf]}
    assert figure([trace], "x", "y")["data"][0]["y"] == [1.0, None, None]


def test_data_checks_that_warned_are_named_once_and_a_few_only():
    def finding(check, subject, status="warn"):
        return {"check": check, "subject": subject, "status": status}

    found = [finding("skew", "price"), finding("skew", "price"), finding("overlap", "")]
    checks = {"findings": [*found, finding("leakage", "item", status="pass")]}
    assert data_warnings({"data_checks": checks}) == [
        "data checks warned: skew of price, overlap of all rows"
    ]
    assert data_warnings({"data_checks": None}) == data_warnings({}) == []
    many = {"findings": [finding("skew", f"x{at}") for at in range(7)]}
    (line,) = data_warnings({"data_checks": many})
    assert line.endswith("skew of x4 and 2 more")


def test_scores_of_each_class_sum_to_one():
    scores = {"edges": [0.0, 0.5, 1.0], "clicks": [1.0, 3.0], "others": [90.0, 10.0]}
    others, clicks = score_chart(scores).figure["data"]
    # The last share stands twice: a step holds until the next edge.
    assert others["y"] == [0.9, 0.1, 0.1]
    assert clicks["y"] == [0.25, 0.75, 0.75]


@pytest.mark.parametrize(("clicked", "scale"), [(0.01, "log"), (0.0, "linear")])
def test_calibration_is_logarithmic_only_where_every_bucket_has_clicks(clicked, scale):
    buckets = [
        {"predicted": 0.02, "observed": clicked},
        {"predicted": 0.1, "observed": 0.1},
    ]
    layout = calibration_chart(buckets).figure["layout"]
    assert layout["xaxis"]["type"] == layout["yaxis"]["type"] == scale


def test_the_chart_of_slices_keeps_all_rows_and_the_most_clicks():
    slices = [entry("", 0.7, 10**6)]
    slices += [entry(f"d{clicks}", 0.7, clicks) for clicks in range(MOST_SLICES + 10)]
    gauc, _ = metric_charts(slices)
    names = gauc.figure["layout"]["yaxis"]["ticktext"]
    assert len(names) == MOST_SLICES
    assert names[0] == "overall"
    # 39 places beside all rows: the 11 slices with the fewest clicks are out.
    assert names[1] == "device=d11"
    assert f"({MOST_SLICES} with the most clicks of {MOST_SLICES + 11})" in gauc.title


def test_a_slice_without_an_interval_is_hollow_and_has_no_bar():
    slices = [entry("", 0.7, 100), entry("ios", 0.6, 50)]
    measured = slices[0]["metrics"]["gauc"] | {"ci95": [0.65, 0.76]}
    slices[0]["metrics"] = slices[0]["metrics"] | {"gauc": measured}
    with_bar, without = metric_charts(slices)[0].figure["data"]
    assert with_bar["marker"]["symbol"] == ["diamond"]
    assert with_bar["error_x"]["arrayminus"] == pytest.approx([0.05])
    assert with_bar["error_x"]["array"] == pytest.approx([0.06])
    assert without["marker"]["symbol"] == ["circle-open"]
    assert "error_x" not in without


def test_worst_and_best_leave_out_slices_with_few_clicks():
    slices = [entry("", 0.7, 10_000), entry("rare", 0.1, 99)]
    slices += [entry(str(rank), rank / 10, 100) for rank in range(1, 10)]
    tables, few = extreme_tables(slices)
    names = {
        table.title: [row[0].text.removeprefix("device=") for row in table.rows]
        for table in tables
    }
    assert few == 1
    # Nine slices: four at either end, so that none stands in both.
    assert names == {
        "Worst by GAUC": ["1", "2", "3", "4"],
        "Best by GAUC": ["9", "8", "7", "6"],
        "Worst by |log PCOP|": ["1", "2", "3", "4"],
        "Best by |log PCOP|": ["9", "8", "7", "6"],
    }


def test_cost_sums_seconds_and_takes_the_highest_peak():
    usage = {"state": "complete", "rows": 1}
    one = usage | {"wall_seconds": 2.0, "cpu_seconds": 3.0, "peak_bytes": 2**30}
    two = usage | {"wall_seconds": 1.0, "cpu_seconds": 0.5, "peak_bytes": 2**20}
    table = cost_table([{"component": "a"} | one, {"component": "b"} | two])
    assert [cell.text for cell in table.rows[-1]] == [
        "all",
        "",
        "-",
        "3.0",
        "3.5",
        "1,024",
    ]
    two["device_seconds"] = 0.75
    table = cost_table([{"component": "a"} | one, {"component": "b"} | two])
    assert "device s" in table.columns
    assert [row[5].text for row in table.rows] == ["-", "0.8", "0.8"]


def test_a_column_of_ids_shows_no_value():
    user = {"name": "user", "type": "string", "unique": 7, "hidden": True}
    split = {"split": "train", "rows": 9, "features": [user]}
    user |= {"present": 1.0, "values_per_row": 1.0}
    (row,) = feature_table(split).rows
    assert row[-1].text == "ids are not shown"
    assert [cell.text for cell in row[3:6]] == ["7", "-", "-"]


def test_epochs_stand_with_their_validation():
    training = {
        "epoch_losses": [0.3, 0.2],
        "validation": [{"epoch": 2, "gauc": 0.6, "gauc_interval": [0.5, 0.7]}],
        "best_epoch": 2,
    }
    table = epoch_table(training)
    assert table is not None
    texts = [[cell.text for cell in row] for row in table.rows]
    assert texts == [
        ["1", "0.3000", "-", "-", "-", ""],
        ["2", "0.2000", "-", "0.6000", "-", "kept"],
    ]
    assert table.rows[1][3].below == "0.5000 to 0.7000"
    assert epoch_table({"epoch_losses": []}) is None


def test_training_and_validation_loss_share_a_chart():
    points = {"steps": [1.0, 2.0], "values": [0.4, 0.3]}
    tags = ("train/zz_new", "train/loss", "validation/log_loss", "validation/gauc")
    charts = training_charts(dict.fromkeys(tags, points))
    assert [chart.title for chart in charts] == [
        "Loss",
        "GAUC on the validation rows",
        "zz new",
    ]
    assert [trace["name"] for trace in charts[0].figure["data"]] == [
        "train",
        "validation",
    ]

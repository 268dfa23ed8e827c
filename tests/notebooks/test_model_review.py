"""The review notebook: tidy as it is committed, and true when it is executed."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "model_review.ipynb"
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def notebook() -> Any:
    """The notebook as it is committed."""
    return nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)


@pytest.fixture(scope="module")
def executed(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Cells by id after a run over the latest run, with TFMA's views in one more."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells}
    # No kernel can have them for certain, so both branches are executed.
    source = f"WIDGETS = True\n{cells['views'].source}"
    again = nbformat.v4.new_code_cell(source, id="widget-views")
    notebook.cells.append(again)
    place = {"metadata": {"path": str(NOTEBOOK.parent)}}
    client = NotebookClient(notebook, timeout=600, resources=place)
    root = Path(runs[0]["file"]).parents[2]
    client.execute(env=os.environ | {"CTR_RUNS": str(root)})
    return cells | {again.id: again}


def texts(cell: Any) -> Iterator[str]:
    """What a cell shows, as text."""
    for output in cell.get("outputs", ()):
        yield output.get("text", "")
        yield from (str(value) for value in output.get("data", {}).values())


def test_it_is_valid_and_holds_no_output_and_no_place(notebook: Any) -> None:
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in codes)
    assert not any(cell.metadata for cell in notebook.cells)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert not re.search(r"[\"' ](/|~|[A-Z]:\\)\w|https?://", NOTEBOOK.read_text())
    # Ids that name their cell stay the same when a cell is moved or edited.
    assert all(re.fullmatch(r"[a-z-]+", cell.id) for cell in notebook.cells)


def test_each_code_cell_is_short_and_has_its_reason_above(notebook: Any) -> None:
    for before, cell in zip(notebook.cells, notebook.cells[1:], strict=False):
        if cell.cell_type == "code":
            ast.parse(cell.source)
            assert before.cell_type == "markdown"
            assert len(cell.source.splitlines()) <= 32


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_it_is_linted_and_formatted_like_the_sources(command: list[str]) -> None:
    ruff = [sys.executable, "-m", "ruff", *command, str(NOTEBOOK)]
    done = subprocess.run(ruff, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.smoke
def test_verdict_metrics_and_changes_are_those_of_the_run(
    runs: list[dict[str, Any]], executed: dict[str, Any]
) -> None:
    latest = runs[-1]
    assert latest["verdict"]["reason"].startswith("blessed: ")
    reason = latest["verdict"]["reason"].removeprefix("blessed: ")
    assert f"Blessed: {reason}\n" in "".join(texts(executed["verdict"]))
    shown = "".join(texts(executed["slices"]))
    for entry in latest["slices"]:
        for name in ("gauc", "pcop"):
            estimate = entry["metrics"][name]
            if estimate["ci95"]:
                low, high = estimate["ci95"]
                value = f"{estimate['value']:.4f} ({low:.4f} to {high:.4f})"
                assert value in shown
    # Same rows, seed and settings as the baseline: nothing changed.
    assert "0.0000 (0.0000 to 0.0000)" in "".join(texts(executed["baseline"]))


@pytest.mark.smoke
def test_every_chart_of_the_report_is_drawn(
    runs: list[dict[str, Any]], executed: dict[str, Any]
) -> None:
    from components.report.sections import sections
    from pipeline.report_data import gather

    content = gather(runs[-1], Path(runs[-1]["file"]).parents[2])
    charts = [chart for part in sections(content) for chart in part.charts]
    assert len(charts) > 10
    names = ("slices", "extremes", "calibration", "baseline", "run")
    outputs = [output for name in names for output in executed[name].outputs]
    drawn = ["application/vnd.plotly.v1+json" in one.get("data", {}) for one in outputs]
    assert sum(drawn) == len(charts)
    shown = "".join(text for name in names for text in texts(executed[name]))
    assert all(f"{chart.title}. {chart.reading}" in shown for chart in charts)


@pytest.mark.smoke
def test_tfma_shows_its_views_where_they_can_be_drawn(executed: dict[str, Any]) -> None:
    views = executed["widget-views"].outputs
    assert [WIDGET in view.data for view in views] == [True, True]
    assert not any(WIDGET in view.get("data", {}) for view in executed["views"].outputs)
    assert "shown below: the report's charts" in "".join(texts(executed["widgets"]))


@pytest.mark.smoke
def test_the_pushed_model_scores_a_row_and_no_id_is_shown(
    runs: list[dict[str, Any]], executed: dict[str, Any]
) -> None:
    import tensorflow as tf

    assert f"pushed to: {runs[-1]['pushed']}" in "".join(texts(executed["model"]))
    folder = Path(runs[-1]["file"]).parents[1] / "artifacts/ClickLogExampleGen/examples"
    latest = max(folder.iterdir(), key=lambda path: int(path.name))
    shard = min((latest / "Split-eval").glob("*.gz"))
    row = next(iter(tf.data.TFRecordDataset(str(shard), "GZIP")))
    model = tf.saved_model.load(runs[-1]["pushed"])
    score = model.signatures["serving_default"](examples=row[None])["prediction"]
    expected = f"click probability: {float(score[0]):.4f}\n"
    assert "".join(texts(executed["score"])) == expected
    features = tf.train.Example.FromString(row.numpy()).features.feature
    shown = "".join(text for cell in executed.values() for text in texts(cell))
    for name in ("user_id", "request_id"):
        assert features[name].bytes_list.value[0].decode() not in shown
    assert not re.search(r"\bu\d{6}\b", shown)

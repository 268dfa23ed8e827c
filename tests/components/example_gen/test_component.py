"""The TFX component: spans, fingerprints, and a standard Examples artifact."""

import json

import pytest

from components.example_gen.component import split_input
from data.dataset import Dataset

DATASET = Dataset.model_validate(
    {
        "keys": {"label": "click", "user_id": "user"},
        "split": {"by": "hash", "columns": ["user"]},
        "features": [{"kind": "categorical", "name": "item", "buckets": 10}],
    }
)


def test_inputs_as_base_and_patterns(tmp_path):
    folder = str(tmp_path)
    file = tmp_path / "log.csv"
    file.write_text("x")
    assert split_input(folder) == (folder, ["*", "*/*", "*/*/*", "*/*/*/*"])
    assert split_input(str(file)) == (folder, ["log.csv"])
    assert split_input("gs://b/logs/day={SPAN}/*.csv") == (
        "gs://b/logs",
        ["day={SPAN}/*.csv"],
    )
    assert split_input("/not/here/log.parquet") == ("/not/here", ["log.parquet"])


@pytest.mark.engine
@pytest.mark.slow
def test_component_reads_latest_span_and_skips_known_input(tmp_path):
    from tfx import v1 as tfx

    from components.example_gen.component import ClickLogExampleGen

    for day in (1, 2):
        folder = tmp_path / "log" / f"day={day}"
        folder.mkdir(parents=True)
        rows = "".join(f"u{i},{i},{i % 2}\n" for i in range(50 * day))
        (folder / "a.csv").write_text("user,item,click\n" + rows)

    def run(location):
        example_gen = ClickLogExampleGen(str(tmp_path / location), DATASET, name="demo")
        tfx.orchestration.LocalDagRunner().run(
            tfx.dsl.Pipeline(
                pipeline_name="test",
                pipeline_root=str(tmp_path / "root"),
                components=[example_gen],
                enable_cache=True,
                metadata_connection_config=(
                    tfx.orchestration.metadata.sqlite_metadata_connection_config(
                        str(tmp_path / "metadata.db")
                    )
                ),
                beam_pipeline_args=["--runner=FnApiRunner"],
            )
        )
        found = (tmp_path / "root").glob("ClickLogExampleGen/examples/*/manifest.json")
        return [json.loads(path.read_text())["rows_read"] for path in sorted(found)]

    assert run("log") == [150]
    assert run("log") == [150]  # the same files: nothing is read again
    assert run("log/day={SPAN}/*") == [150, 100]

"""PackExamples uses Beam where there are workers, and says what it wrote."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.engine


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Calls the component without packing; returns its artifact and pack's arguments."""
    from tfx.types import standard_artifacts

    from components.packing import component
    from data.dataset import Dataset

    dataset = Dataset.model_validate(
        {
            "keys": {"label": "click"},
            "split": {"by": "hash", "columns": ["item"]},
            "features": [{"name": "item", "kind": "categorical", "buckets": 9}],
        }
    )
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(component, "pack", lambda *arguments: calls.append(arguments))

    def call(compression: str = "gzip", pipeline: Any = None) -> Any:
        artifacts = [
            standard_artifacts.Examples(),
            standard_artifacts.TransformGraph(),
            standard_artifacts.Examples(),
        ]
        for name, artifact in zip(("rows", "graph", "packed"), artifacts, strict=True):
            artifact.uri = str(tmp_path / name)
        arguments = (dataset.model_dump_json(), '["train"]', compression, pipeline)
        component.PackExamples.test_call(*artifacts, *arguments)
        return artifacts[2], calls.pop()

    return call


@pytest.mark.parametrize("arguments", [[], ["--runner=FnApiRunner"]])
def test_runners_of_one_machine_need_no_beam(call: Any, arguments: list[str]) -> None:
    import apache_beam as beam

    _, (_, _, pipeline) = call(pipeline=beam.Pipeline(argv=arguments))

    assert pipeline is None


def test_a_runner_with_workers_elsewhere_is_used(call: Any) -> None:
    import apache_beam as beam
    from apache_beam.runners.runner import PipelineRunner

    given = beam.Pipeline(runner=PipelineRunner())
    _, (_, _, pipeline) = call(pipeline=given)

    assert pipeline is given


@pytest.mark.parametrize(
    ("compression", "file_format", "compress"),
    [("gzip", "tfrecords_gzip", True), ("none", "tfrecords", False)],
)
def test_the_artifact_names_the_compression(
    call: Any, compression: str, file_format: str, compress: bool
) -> None:
    from tfx.components.util import examples_utils

    packed, (job, splits, _) = call(compression)

    assert examples_utils.get_file_format(packed) == file_format
    assert job.compress is compress
    assert splits == ["train"]
    assert packed.split_names == '["train"]'

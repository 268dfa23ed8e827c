"""Specs that another tool wrote: what Kubeflow runs is not refused."""

import pytest

from data.errors import UsageError
from pipeline.kubeflow.check import check
from pipeline.kubeflow.document import Document, read_document


@pytest.fixture
def compiled(tmp_path):
    """A pipeline as kfp's own compiler writes it."""
    from kfp import compiler, dsl

    @dsl.container_component
    def train(rows: int, model: dsl.Output[dsl.Model]):
        return dsl.ContainerSpec(image="trainer", command=["sh"], args=[model.path])

    @dsl.container_component
    def push(model: dsl.Input[dsl.Model]):
        return dsl.ContainerSpec(image="pusher", command=["sh"], args=[model.path])

    def compile_to(path=tmp_path / "kfp.yaml", *, gpu="nvidia.com/gpu", pause="30s"):
        @dsl.pipeline(name="kfp-own")
        def pipeline(rows: int = 10):
            trained = train(rows=rows)
            trained.set_accelerator_type(gpu).set_accelerator_limit(1)
            trained.set_retry(3, backoff_duration=pause).set_cpu_limit("2")
            with dsl.Condition(rows > 5):
                push(model=trained.outputs["model"])

        compiler.Compiler().compile(pipeline, str(path))
        return read_document(path)

    return compile_to


def test_a_pipeline_of_kfp_breaks_no_rule(compiled):
    assert check(compiled()) == []


@pytest.mark.parametrize(
    ("change", "rule"),
    [({"gpu": "NVIDIA_TESLA_T4"}, "accelerator"), ({"pause": None}, "retries")],
)
def test_a_fault_in_it_is_found(compiled, change, rule):
    assert [fault.rule for fault in check(compiled(**change))] == [rule]


def test_shared_objects_are_written_without_aliases(tmp_path):
    shared = {"name": "minimal"}
    document = Document({"pipelineInfo": shared, "root": {"note": shared}})
    path = tmp_path / "spec.yaml"
    path.write_text(document.to_yaml())
    assert read_document(path) == document


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 3000, ": not valid YAML: maximum recursion depth"),
        ("a: 2020-99-99", ": not valid YAML: month must be in 1..12"),
        ("a: " + "9" * 5000, ": not valid YAML: Exceeds the limit"),
        ("a: &a [*a]", ":1:8: not valid YAML: aliases"),
        ("a: &a {b: 1}\nc: *a", ":2:4: not valid YAML: aliases"),
    ],
)
def test_text_that_no_tool_would_write_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "hostile.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_document(path)
    assert str(caught.value).startswith(f"{path}{message}")
    assert "\n" not in str(caught.value)

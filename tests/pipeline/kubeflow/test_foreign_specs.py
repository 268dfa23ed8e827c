"""Specs that another tool wrote: what Kubeflow runs is not refused."""

import pytest

from pipeline.kubeflow.check import check
from pipeline.kubeflow.document import read_document


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

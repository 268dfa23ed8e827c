"""Each rule: a spec with the fault is refused, and its repair takes the fault away."""

import pytest

from pipeline.kubeflow.check import RULES, check
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.rules import (
    accelerator,
    condition,
    lifecycle,
    parameter_defaults,
    schema_version,
    typed_inputs,
)


def rules_of(document):
    return {fault.rule for fault in check(document)}


def test_the_minimal_spec_breaks_no_rule(document):
    assert check(document) == []


def test_every_rule_has_its_own_name():
    names = [rule.RULE for rule in RULES]
    assert len(set(names)) == len(names)


def test_a_fault_is_one_line_of_rule_place_value_and_remedy(document):
    document.pipeline["schemaVersion"] = "2.0.0"
    (fault,) = check(document)
    assert fault.line() == (
        "schema: schemaVersion: 2.0.0; only 2.1.0 is read; compile with "
        "use_pipeline_spec_2_1"
    )
    assert fault.to_json()["rule"] == "schema"


def test_a_pipeline_job_is_refused(document):
    (fault,) = check(Document(document.pipeline, is_job=True))
    assert (fault.rule, fault.value) == ("schema", "PipelineJob")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"root": {}}, "root.dag"),
        ({"root": 3}, "root"),
        ({"root": {"dag": {"tasks": {"a": 1}}}}, "root.dag.tasks.a"),
        (
            {"root": {"dag": {"tasks": {"a": {"inputs": ""}}}}},
            "root.dag.tasks.a.inputs",
        ),
        ({"components": {"a": {"dag": []}}}, "components.a.dag"),
        ({"components": []}, "PipelineSpec"),
        ({"pipelineInfo": {"name": 3}}, "PipelineSpec"),
        ({"deploymentSpec": ""}, "deploymentSpec"),
        ({"deploymentSpec": {"executors": 3}}, "deploymentSpec"),
        (
            {"deploymentSpec": {"executors": {"a": {"container": []}}}},
            "deploymentSpec.executors.a.container",
        ),
    ],
)
def test_what_is_no_spec_at_all_is_a_fault_and_no_crash(document, change, place):
    document.pipeline.update(change)
    found = check(document)
    assert {fault.rule for fault in found} == {schema_version.RULE}
    assert place in {fault.place for fault in found}


def test_hooks_are_refused_and_handed_to_the_entry_point(document, container):
    driver = "tfx.orchestration.kubeflow.v2.file_based_example_gen.driver"
    hook = {"command": ["python", "-m", driver], "args": ["{{$}}"]}
    container["lifecycle"] = {"preCacheCheck": hook}
    assert rules_of(document) == {lifecycle.RULE}
    lifecycle.repair(document)
    assert check(document) == []
    assert "lifecycle" not in container
    assert container["args"][-2:] == ["--driver", driver]


def test_tfx_own_entry_point_is_refused_and_replaced(document, container):
    container["command"] = ["python", "-m", typed_inputs.TFX_MODULE]
    assert rules_of(document) == {typed_inputs.RULE}
    typed_inputs.repair(document)
    assert check(document) == []
    assert container["command"] == ["python", "-m", "pipeline.kubeflow.entrypoint"]


def test_a_command_that_is_not_of_tfx_is_left_alone(document, container):
    container["command"] = ["sh", "-c", "true"]
    typed_inputs.repair(document)
    assert container["command"] == ["sh", "-c", "true"]
    assert check(document) == []


def test_vertex_names_of_accelerators_become_a_resource_and_a_node_label(
    document, container
):
    container["resources"] = {"accelerator": {"type": "NVIDIA_TESLA_T4", "count": "1"}}
    assert rules_of(document) == {accelerator.RULE}
    accelerator.repair(document)
    assert check(document) == []
    assert container["resources"]["accelerator"] == {
        "type": "nvidia.com/gpu",
        "count": "1",
    }
    assert document.kubernetes["Pusher_executor"]["nodeSelector"] == {
        "labels": {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}
    }


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "google.com/tpu", "amd.com/gpu"])
def test_resources_of_any_vendor_are_accelerators(document, container, name):
    container["resources"] = {"accelerator": {"type": name, "count": "1"}}
    assert check(document) == []


def test_parameters_without_a_default_are_refused_and_given_theirs(document):
    document.pipeline["root"]["inputDefinitions"] = {
        "parameters": {
            "epochs": {"parameterType": "NUMBER_INTEGER"},
            "note": {"parameterType": "STRING", "isOptional": True},
        }
    }
    (fault,) = check(document)
    assert (fault.rule, fault.value) == (parameter_defaults.RULE, "no defaultValue")
    assert fault.place.endswith("parameters.epochs")
    parameter_defaults.repair(document, {"epochs": 3, "other": 1})
    assert check(document) == []
    assert document.parameters["epochs"]["defaultValue"] == 3
    assert "defaultValue" not in document.parameters["note"]


def test_a_condition_on_an_implicit_key_becomes_one_on_the_input(document, task):
    written = "inputs.artifacts['{}'].artifacts[0].metadata['blessed'] == 1.0"
    task["triggerPolicy"] = {"condition": written.format("_Trainer.model")}
    (fault,) = check(document)
    assert fault.rule == condition.RULE
    assert fault.value == "inputs.artifacts['_Trainer.model']"
    condition.repair(document)
    assert check(document) == []
    assert task["triggerPolicy"]["condition"] == written.format("model")


def test_a_condition_on_something_else_stays_refused(document, task):
    task["triggerPolicy"] = {"condition": "inputs.artifacts['_Other.model'].uri == ''"}
    condition.repair(document)
    assert rules_of(document) == {condition.RULE}


def test_a_condition_on_an_importer_is_refused(document, task):
    document.executors["Pusher_executor"] = {
        "importer": {"artifactUri": {"constant": "gs://b/m"}}
    }
    assert check(document) == []
    task["triggerPolicy"] = {"condition": "inputs.artifacts['model'].uri != ''"}
    (fault,) = check(document)
    assert (fault.rule, "importer" in fault.remedy) == (condition.RULE, True)

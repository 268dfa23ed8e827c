"""Rules about tasks and executors: names, order, retries, cache, pods, resolvers."""

import pytest

from data.errors import ConfigError
from pipeline.kubeflow.check import check
from pipeline.kubeflow.config import Retries
from pipeline.kubeflow.request import Request
from pipeline.kubeflow.rules import (
    caching,
    dependencies,
    pods,
    resolver,
    retries,
    task_names,
)

POINTER = "s3://bucket/latest.json"
REQUEST = Request(
    image="registry.local/ctr:1",
    pipeline_root="s3://bucket/runs",
    input_base="s3://bucket/input",
    serving="s3://bucket/serving",
    blessed_model=POINTER,
)


def rules_of(document):
    return {fault.rule for fault in check(document)}


def test_ids_of_tfx_become_names_of_the_cluster_everywhere(document, task):
    tasks = document.pipeline["root"]["dag"]["tasks"]
    tasks["Trainer.a_b"] = tasks.pop("Trainer")
    task["dependentTasks"] = ["Trainer.a_b"]
    task["inputs"]["artifacts"]["model"]["taskOutputArtifact"]["producerTask"] = (
        "Trainer.a_b"
    )
    document.components["Trainer.a_b"] = document.components.pop("Trainer")
    tasks["Trainer.a_b"]["componentRef"]["name"] = "Trainer.a_b"
    assert rules_of(document) == {task_names.RULE}
    task_names.repair(document)
    assert check(document) == []
    assert sorted(tasks) == ["Pusher", "Trainer-a-b"]
    assert tasks["Trainer-a-b"]["taskInfo"]["name"] == "Trainer-a-b"
    assert task["dependentTasks"] == ["Trainer-a-b"]
    source = task["inputs"]["artifacts"]["model"]["taskOutputArtifact"]
    assert source["producerTask"] == "Trainer-a-b"
    assert sorted(document.components) == ["Pusher", "Trainer-a-b"]


def test_two_ids_that_become_one_name_are_refused(document):
    tasks = document.pipeline["root"]["dag"]["tasks"]
    tasks["a.b"] = tasks["a-b"] = tasks["Trainer"]
    with pytest.raises(ConfigError, match=r"component 'a\.b'.*'a-b'"):
        task_names.repair(document)


def test_tasks_that_wait_in_a_circle_are_refused(document, task):
    trainer = document.pipeline["root"]["dag"]["tasks"]["Trainer"]
    # The Pusher waits for the Trainer already.
    trainer["dependentTasks"] = ["Pusher"]
    (fault,) = check(document)
    assert (fault.rule, fault.place) == (dependencies.RULE, "root.dag.tasks")
    assert set(fault.value.split(" -> ")) == {"Pusher", "Trainer"}
    trainer["dependentTasks"] = ["Trainer"]
    (fault,) = check(document)
    assert fault.value == "Trainer -> Trainer"
    del trainer["dependentTasks"]
    assert check(document) == []


def test_a_task_that_waits_for_an_unknown_one_names_the_nearest(document, task):
    task["dependentTasks"] = ["Trainr"]
    (fault,) = check(document)
    assert (fault.rule, fault.value) == (dependencies.RULE, "'Trainr'")
    assert fault.place == "root.dag.tasks.Pusher"
    assert "Did you mean 'Trainer'?" in fault.remedy


def test_an_input_of_an_unknown_task_is_refused(document, task):
    source = task["inputs"]["artifacts"]["model"]["taskOutputArtifact"]
    source["producerTask"] = "Tuner"
    (fault,) = check(document)
    assert (fault.rule, fault.value) == (dependencies.RULE, "'Tuner'")


def test_tasks_without_retries_get_those_with_a_growing_pause(document, task):
    task["retryPolicy"] = {"maxRetryCount": 5, "backoffDuration": "5s"}
    retries.repair(document, Retries(count=3, backoff_seconds=30))
    tasks = document.pipeline["root"]["dag"]["tasks"]
    assert tasks["Trainer"]["retryPolicy"] == {
        "maxRetryCount": 3,
        "backoffDuration": "30s",
        "backoffFactor": 2.0,
        "backoffMaxDuration": "600s",
    }
    assert task["retryPolicy"]["maxRetryCount"] == 5
    assert check(document) == []


def test_retries_without_a_pause_are_refused(document, task):
    task["retryPolicy"] = {"maxRetryCount": 3, "backoffDuration": "0s"}
    assert rules_of(document) == {retries.RULE}
    task["retryPolicy"] = {"maxRetryCount": "3"}  # as the JSON of a proto may have it
    assert rules_of(document) == {retries.RULE}
    task["retryPolicy"] = {"maxRetryCount": 3, "backoffDuration": "0.5s"}
    assert check(document) == []


def test_no_retries_are_written_when_none_are_wanted(document, task):
    retries.repair(document, Retries(count=0))
    assert "retryPolicy" not in task


def test_the_cache_needs_an_image_by_digest(document, task, container):
    caching.repair(document, enabled=True)
    assert rules_of(document) == {caching.RULE}
    for _, one in document.containers():
        one["image"] = "registry.local/ctr@sha256:" + "0" * 64
    assert check(document) == []
    caching.repair(document, enabled=False)
    assert task["cachingOptions"] == {"enableCache": False}


def test_tasks_that_look_for_files_are_never_cached(document, task, container):
    container["image"] = "registry.local/ctr@sha256:" + "0" * 64
    container["args"] += ["--driver", "module"]
    caching.repair(document, enabled=True)
    assert task["cachingOptions"] == {"enableCache": False}
    task["cachingOptions"] = {"enableCache": True}
    faults = [fault for fault in check(document) if ".Pusher." in fault.place]
    assert [fault.rule for fault in faults] == [caching.RULE]
    assert "not among its inputs" in faults[0].remedy


def test_the_cache_of_a_plain_container_is_its_own_affair(document, task, container):
    task["cachingOptions"] = {"enableCache": True}
    container["command"] = ["sh", "-c", "true"]
    assert check(document) == []


@pytest.mark.parametrize(
    ("group", "labels"),
    [
        ("podMetadata", {"kueue.x-k8s.io/queue-name": "a queue"}),
        ("podMetadata", {"kueue.x-k8s.io/queue-name": "q" * 64}),
        ("nodeSelector", {"-gpu": "t4"}),
    ],
)
def test_labels_that_kubernetes_refuses_are_faults(document, group, labels):
    document.pod("Pusher_executor")[group] = {"labels": labels}
    assert rules_of(document) == {pods.RULE}


@pytest.mark.parametrize("settings", ["", [], {"labels": ""}, {"labels": ["gpu"]}])
def test_pod_settings_without_an_object_of_labels_are_faults(document, settings):
    document.pod("Pusher_executor")["nodeSelector"] = settings
    assert rules_of(document) == {pods.RULE}


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"tolerations": [{"key": "a b"}]}, "tolerations[0].key"),
        ({"tolerations": [{"key": "a", "value": "b\n"}]}, "tolerations[0].value"),
        ({"tolerations": ["gpu"]}, "tolerations[0]"),
        ({"tolerations": 3}, "tolerations[0]"),
        ({"secretAsEnv": [{"secretName": "a..b"}]}, "secretAsEnv[0].secretName"),
        ({"imagePullSecret": [{"secretName": "A"}]}, "imagePullSecret[0].secretName"),
        ({"activeDeadlineSeconds": "0"}, "activeDeadlineSeconds"),
        ({"activeDeadlineSeconds": "9" * 5_000}, "activeDeadlineSeconds"),
    ],
)
def test_pods_that_kubernetes_does_not_admit_are_faults(document, settings, place):
    document.pod("Pusher_executor").update(settings)
    (fault,) = check(document)
    assert fault.rule == pods.RULE
    assert fault.place.endswith(f"Pusher_executor.{place}")


def test_what_a_run_decides_is_no_fault_of_a_pod(document):
    written = "{{$.inputs.parameters['name']}}"
    document.pod("Pusher_executor")["secretAsEnv"] = [{"secretName": written}]
    assert check(document) == []


def test_pod_settings_of_an_unknown_executor_name_the_nearest(document):
    document.pod("Pusher_executer")["nodeSelector"] = {"labels": {"gpu": "t4"}}
    (fault,) = check(document)
    assert fault.rule == pods.RULE
    assert "Did you mean 'Pusher_executor'?" in fault.remedy
    document.kubernetes["Pusher_executor"] = document.kubernetes.pop("Pusher_executer")
    assert check(document) == []


def with_resolver(document):
    """Adds TFX's two tasks for the latest blessed model, read by the Pusher."""
    tasks = document.pipeline["root"]["dag"]["tasks"]
    blessing, model = "best-model-blessing-resolver", "best-model-resolver"
    for name, key in ((blessing, "model_blessing"), (model, "model")):
        document.components[name] = {
            "executorLabel": f"{name}_executor",
            "outputDefinitions": {"artifacts": {key: {"artifactType": {}}}},
        }
        document.executors[f"{name}_executor"] = {
            "resolver": {"outputArtifactQueries": {key: {"filter": "state=LIVE"}}}
        }
        tasks[name] = {"taskInfo": {"name": name}, "componentRef": {"name": name}}
    tasks[model]["inputs"] = {
        "artifacts": {
            "input": {
                "taskOutputArtifact": {
                    "producerTask": blessing,
                    "outputArtifactKey": "model_blessing",
                }
            }
        }
    }
    return tasks


def test_the_resolver_becomes_one_container_over_the_pointer(document):
    tasks = with_resolver(document)
    assert rules_of(document) == {resolver.RULE}
    resolver.repair(document, REQUEST)
    assert check(document) == []
    assert sorted(tasks) == ["Pusher", "Trainer", "best-model-resolver"]
    assert "inputs" not in tasks["best-model-resolver"]
    container = document.container_of(tasks["best-model-resolver"])
    assert container["command"] == ["python", "-m", "pipeline.kubeflow.blessed_model"]
    assert container["image"] == REQUEST.image
    assert container["args"][:4] == ["--pointer", POINTER, "--serving", REQUEST.serving]


def test_whoever_blesses_a_model_writes_the_pointer(document, container):
    with_resolver(document)
    document.components["Pusher"]["outputDefinitions"] = {
        "artifacts": {
            "blessing": {
                "artifactType": {
                    "instanceSchema": "title: tfx.ModelBlessing\ntype: object\n"
                }
            }
        }
    }
    resolver.repair(document, REQUEST)
    assert container["args"][-2:] == ["--blessed_model_pointer", POINTER]
    trainer = document.executors["Trainer_executor"]["container"]
    assert "--blessed_model_pointer" not in trainer["args"]


def test_resolvers_of_other_kinds_have_no_counterpart(document):
    document.executors["latest_executor"] = {
        "resolver": {"outputArtifactQueries": {"model": {"filter": "state=LIVE"}}}
    }
    with pytest.raises(ConfigError, match="component 'latest'"):
        resolver.repair(document, REQUEST)


def test_custom_jobs_and_missing_executors_are_refused(document, task):
    document.executors["Pusher_executor"] = {"customJob": {"customJob": {}}}
    assert rules_of(document) == {resolver.RULE}
    del document.executors["Pusher_executor"]
    assert rules_of(document) == {resolver.RULE}
    task["componentRef"]["name"] = "Puscher"
    (fault,) = check(document)
    assert fault.value == "Puscher"


@pytest.mark.parametrize("image", ["", None])
def test_a_container_names_its_image(document, container, image):
    container["image"] = image
    if image is None:
        del container["image"]
    assert resolver.RULE in rules_of(document)

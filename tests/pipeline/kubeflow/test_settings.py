"""What the cluster's settings write into a compiled pipeline."""

from pipeline.kubeflow.check import check
from pipeline.kubeflow.config import KubeflowConfig
from pipeline.kubeflow.parameters import expose
from pipeline.kubeflow.settings import apply_settings

NAME = "Pusher_executor"


def test_resources_are_in_the_fields_that_every_release_reads(document, container):
    settings = {"component": "Pusher", "cpu": 0.5, "memory": "2G", "gpu": 2}
    apply_settings(document, KubeflowConfig(components=(settings,)))
    assert container["resources"] == {
        "cpuLimit": 0.5,
        "memoryLimit": 2.0,
        "accelerator": {"type": "nvidia.com/gpu", "count": "2"},
    }
    assert "resources" not in document.executors["Trainer_executor"]["container"]
    assert document.platform == {}
    assert check(document) == []


def test_what_kubernetes_is_told_stands_in_the_platform_document(document):
    cluster = KubeflowConfig(
        queue="ctr",
        image_pull_secrets=("registry",),
        secrets=({"name": "store", "env": {"KEY": "key", "ID": "id"}},),
        defaults={
            "timeout_seconds": 60,
            "node_selector": {"pool": "cpu"},
            "tolerations": ({"key": "spot", "operator": "Equal", "value": "yes"},),
        },
    )
    apply_settings(document, cluster)
    assert document.kubernetes["Trainer_executor"] == document.kubernetes[NAME]
    assert document.kubernetes[NAME] == {
        "podMetadata": {"labels": {"kueue.x-k8s.io/queue-name": "ctr"}},
        "imagePullSecret": [{"secretName": "registry"}],
        "secretAsEnv": [
            {
                "secretName": "store",
                "keyToEnv": [
                    {"secretKey": "id", "envVar": "ID"},
                    {"secretKey": "key", "envVar": "KEY"},
                ],
            }
        ],
        "nodeSelector": {"labels": {"pool": "cpu"}},
        "tolerations": [{"key": "spot", "operator": "Equal", "value": "yes"}],
        "activeDeadlineSeconds": "60",
    }
    assert check(document) == []


def test_an_exposed_constant_becomes_a_parameter_with_itself_as_default(document):
    expose(document, {"settings": "Trainer.args"})
    task = document.pipeline["root"]["dag"]["tasks"]["Trainer"]
    assert task["inputs"]["parameters"]["args"] == {
        "componentInputParameter": "settings"
    }
    assert document.parameters == {
        "settings": {"parameterType": "STRING", "defaultValue": "{}"}
    }
    assert check(document) == []

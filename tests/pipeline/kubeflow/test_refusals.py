"""Settings that Kubernetes or Kubeflow would refuse later are refused when read."""

import pytest

from data.errors import ConfigError
from data.settings import parse
from pipeline.config import PipelineConfig, load


@pytest.fixture(scope="module")
def refusal():
    """Reads the demo with other settings of the cluster; gives the line of error."""
    demo = load(preset="demo").model_dump(mode="json", by_alias=True)

    def line_of(cluster):
        with pytest.raises(ConfigError) as caught:
            parse(PipelineConfig, demo | {"kubeflow": cluster}, "file.yaml")
        (line,) = str(caught.value).splitlines()
        return line.removeprefix("file.yaml: ")

    return line_of


def toleration(**fields):
    return {"tolerations": [fields]}


@pytest.mark.parametrize(
    ("setting", "place"),
    [
        (toleration(key="a\nb"), "tolerations[0].key: a label's key"),
        (toleration(key="{{x}}"), "tolerations[0].key: a label's key"),
        (
            toleration(key="a", operator="Equal", value="b c"),
            "tolerations[0].value: a label's value",
        ),
        (toleration(key="a", value="b"), "operator Equal goes with a value"),
        ({"cpu": 1e-9}, "cpu: must be >= 0.001, got 1e-09"),
        ({"cpu": float("inf")}, "cpu: must be"),
        ({"cpu": 10_001}, "cpu: must be <= 10000, got 10001"),
        ({"memory": "0Gi"}, "memory: must be 10M to 1000T, got '0Gi'"),
        ({"memory": "1001T"}, "memory: must be 10M to 1000T"),
        ({"memory": "9" * 400 + "Ti"}, "memory: must be a number"),
        ({"memory": "\u0664Gi"}, "memory: must be a number"),
        ({"memory": "4Gi\n"}, "memory: must be a number"),
        ({"gpu": 10**30}, "gpu: must be <= 1000, got 1"),
        ({"gpu_resource": "a..b/x"}, "gpu_resource: must be a resource with its"),
        ({"gpu_resource": "requests.nvidia.com/gpu"}, "gpu_resource: must be a"),
        ({"node_selector": {"a..b/c": "x"}}, "node_selector: a..b/c=x: a label's"),
        # The most of an int32.
        ({"timeout_seconds": 2_147_483_648}, "timeout_seconds: must be <= 2147483647"),
    ],
)
def test_pods_that_kubernetes_would_not_admit_are_refused(refusal, setting, place):
    assert place in refusal({"defaults": setting})
    # The same rules hold for one component and for the workers of a training.
    assert place in refusal({"components": [{"component": "Trainer"} | setting]})
    assert place in refusal({"training": {"workers": 2} | setting})


@pytest.mark.parametrize(
    ("cluster", "line"),
    [
        ({"service_account": "a..b"}, "service_account: must be 1 to 253"),
        ({"image_pull_secrets": ["a-.b"]}, "image_pull_secrets[0]: must be 1 to 253"),
        ({"queue": "a..b"}, "queue: must be 1 to 63"),
        ({"queue": "q" * 64}, "queue: must be 1 to 63"),
        (
            {"training": {"workers": 2, "namespace": "a.b"}},
            "training.namespace: must be 1 to 63",
        ),
        ({"training": {"workers": 1_001}}, "training.workers: must be <= 1000"),
        ({"retries": {"factor": float("inf")}}, "retries.factor: must be"),
        ({"retries": {"backoff_seconds": 86_401}}, "retries.backoff_seconds: must"),
        ({"schedule": {"cron": "a b c d e f"}}, "schedule.cron: second 'a': must be"),
        ({"serving": "../../etc"}, "serving: must be /FOLDER or a folder in gs://"),
        ({"serving": "http://evil/x"}, "serving: must be /FOLDER or a folder in"),
        ({"serving": "gs://b/x\n"}, "serving: must be printable"),
        ({"serving": "/x/../y"}, "serving: must name each folder"),
        ({"pipeline_root": "s3:///x"}, "pipeline_root: must have a bucket"),
        ({"pipeline_root": "s3://b/../.."}, "pipeline_root: must not hold '.' or"),
        ({"pipeline_root": "s3://b/{{$}}"}, "pipeline_root: must be printable"),
    ],
)
def test_the_cluster_is_told_nothing_that_it_refuses(refusal, cluster, line):
    assert refusal(cluster).startswith(f"kubeflow.{line}")


@pytest.mark.parametrize(
    "variable",
    ["A-B", "2ND", "A B", "PATH", "HOME", "PYTHONPATH", "LD_PRELOAD", "TF_CONFIG"],
)
def test_a_secret_takes_no_variable_that_the_image_needs(refusal, variable):
    line = refusal({"secrets": [{"name": "store", "env": {variable: "key"}}]})
    assert line.startswith("kubeflow.secrets[0].env")
    assert line.endswith(f"got '{variable}'")


def test_two_secrets_do_not_give_one_variable(refusal):
    secrets = [{"name": name, "env": {"KEY": "key"}} for name in ("one", "two")]
    line = "kubeflow.secrets: variable KEY comes from 'one' and 'two'; keep one"
    assert refusal({"secrets": secrets}) == line


@pytest.mark.parametrize(
    "cluster",
    [
        {"pipeline_root": "s3://KEY:hush/x@bucket"},
        {"pipeline_root": "s3://KEY:hush@bucket\n"},
        {"pipeline_root": "KEY:hush@bucket"},
        {"pipeline_root": "s3://bucket/x?secret=hush"},
        {"serving": "s3://KEY:hush@bucket"},
        # The secret's value in the place of its entry's name.
        {"secrets": [{"name": "store", "env": {"KEY": "hush/+="}}]},
        {"secrets": [{"name": "store", "env": {"KEY": "..hush"}}]},
    ],
)
def test_a_key_in_a_setting_is_refused_and_not_shown(refusal, cluster):
    assert "hush" not in refusal(cluster)

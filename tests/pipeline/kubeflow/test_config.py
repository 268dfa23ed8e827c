"""The cluster's settings, and how they and the options make a request."""

import pytest

from data.errors import ConfigError, UsageError
from data.settings import parse
from pipeline.config import PipelineConfig, load
from pipeline.kubeflow.config import KubeflowConfig, Schedule
from pipeline.kubeflow.pod_config import PodSettings
from pipeline.kubeflow.quantities import gigabytes
from pipeline.kubeflow.request import request_of

IMAGE = "registry.local/ctr:1"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"imagee": "a"}, "unknown key 'imagee'. Did you mean 'image'?"),
        (
            {"components": [{"component": "Trainer", "gpus": 1}]},
            "components[0].gpus: unknown key 'gpus'. Did you mean 'gpu'?",
        ),
        (
            {"components": [{"component": "Trainer"}, {"component": "Trainer"}]},
            "'Trainer' is given twice",
        ),
        ({"defaults": {"memory": "8GB"}}, "kubeflow.defaults.memory"),
        ({"defaults": {"gpu_resource": "T4"}}, "kubeflow.defaults.gpu_resource"),
        ({"digest": "sha256:12"}, "kubeflow.digest"),
        ({"pipeline_root": "/runs"}, "kubeflow.pipeline_root"),
        ({"queue": "My Queue"}, "kubeflow.queue"),
        ({"secrets": [{"name": "s", "env": {"A-B": "k"}}]}, "kubeflow.secrets"),
        ({"schedule": {"cron": "0 4 * * *"}}, "kubeflow.schedule.cron"),
        ({"parameters": {"2nd": "Trainer.run_fn"}}, "'2nd': must be 1 to 63"),
        ({"parameters": {"data": "input_base"}}, "data: must be Component.parameter"),
        ({"defaults": {"node_selector": {"a b": "c"}}}, "a b=c: a label's key"),
        (
            {"defaults": {"tolerations": [{"operator": "Equal", "key": "gpu"}]}},
            "operator Equal goes with a value",
        ),
    ],
)
def test_a_faulty_setting_is_one_line_with_its_place(content, text):
    demo = load(preset="demo").model_dump(mode="json", by_alias=True)
    with pytest.raises(ConfigError) as caught:
        parse(PipelineConfig, demo | {"kubeflow": content}, "file.yaml")
    (line,) = str(caught.value).splitlines()
    assert line.startswith("file.yaml: ")
    assert text in line


def test_settings_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        KubeflowConfig().queue = "other"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("500M", 0.5), ("4Gi", 4 * 2**30 / 1e9), ("1.5G", 1.5), ("1Ti", 2**40 / 1e9)],
)
def test_memory_is_counted_in_units_of_a_billion_bytes(text, expected):
    assert gigabytes(text) == pytest.approx(expected, rel=1e-12)


def test_own_settings_of_a_component_stand_over_the_defaults():
    defaults = PodSettings(cpu=1, memory="4Gi", gpu=1)
    assert PodSettings(cpu=8, gpu=0).over(defaults) == PodSettings(
        cpu=8, memory="4Gi", gpu=0
    )


def test_a_schedule_has_six_fields():
    assert Schedule(cron="0 0 4 * * *").max_concurrency == 1


def request(target="kubeflow", cluster=None, **options):
    config = load(preset="demo")
    if cluster is not None:
        config = config.model_copy(update={"kubeflow": KubeflowConfig(**cluster)})
    return request_of(config, target, **options)


def test_a_request_is_completed_from_the_configuration():
    cluster = {
        "image": "registry.local/ctr",
        "digest": "sha256:" + "0" * 64,
        "pipeline_root": "s3://bucket/runs/",
    }
    made = request(cluster=cluster)
    assert made.image == f"registry.local/ctr@sha256:{'0' * 64}"
    assert made.pipeline_root == "s3://bucket/runs"
    assert made.input_base == "s3://bucket/runs/demo/input"
    assert made.serving == "s3://bucket/runs/demo/serving"
    assert made.blessed_model == "s3://bucket/runs/demo/blessed_models.json"


def test_options_stand_over_the_configuration():
    cluster = {
        "image": "a",
        "digest": "sha256:" + "0" * 64,
        "pipeline_root": "s3://a/b",
    }
    made = request(
        cluster=cluster, image=IMAGE, pipeline_root="gs://c/d", input_base="/mnt/log"
    )
    assert made.image == IMAGE
    assert made.pipeline_root == "gs://c/d"
    assert made.input_base == "/mnt/log"


@pytest.mark.parametrize(
    ("target", "options", "text"),
    [
        ("kubeflow", {}, "--image: needed"),
        ("kubeflow", {"image": "Registry/ctr"}, "--image 'Registry/ctr'"),
        ("kubeflow", {"image": "ctr:1\n"}, "--image 'ctr:1"),
        ("kubeflow", {"image": IMAGE, "pipeline_root": "/x"}, "--pipeline-root '/x'"),
        (
            "kubeflow",
            {"image": IMAGE, "pipeline_root": "s3://"},
            "--pipeline-root 's3://'",
        ),
        (
            "kubeflow",
            {"image": IMAGE, "pipeline_root": ""},
            "--pipeline-root '': target kubeflow: must be gs://",
        ),
        ("kubeflow", {"image": "ctr:\u0661"}, "--image 'ctr:\u0661'"),
        ("kubeflow", {"image": "host//ctr"}, "--image 'host//ctr'"),
        ("kubeflow", {"image": IMAGE, "input_base": ""}, "--input '': must be"),
        (
            "kubeflow",
            {"image": IMAGE, "input_base": "http://h/log"},
            "--input 'http://h/log': must have no scheme or one of gs://, s3://",
        ),
        ("vertex", {"image": IMAGE}, "--pipeline-root: needed for target vertex"),
        (
            "vertex",
            {"image": IMAGE, "pipeline_root": "s3://b/r"},
            "target vertex: must be gs://",
        ),
    ],
)
def test_a_missing_or_unfit_option_is_refused_with_its_remedy(target, options, text):
    with pytest.raises(UsageError) as caught:
        request(target, **options)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"image": IMAGE, "pipeline_root": "s3://KEY:hush@bucket"},
        {"image": IMAGE, "input_base": "s3://KEY:hush@bucket/log"},
        {"image": "user:hush@registry.local/CTR"},
    ],
)
def test_an_option_that_holds_a_key_is_refused_and_the_key_not_shown(options):
    with pytest.raises(UsageError) as caught:
        request(**options)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "image",
    ["ctr", "ctr:1", "host:5000/a/b_c.d:v1", "a--b/c@sha256:" + "0" * 64, IMAGE],
)
def test_images_are_named_as_registries_take_them(image):
    assert request(image=image).image == image


@pytest.mark.parametrize("name", ["schema_file", "reference"])
def test_a_key_in_another_place_is_refused_and_not_shown(name):
    config = load(preset="demo")
    update = {name: "s3://KEY:hush@bucket/x"}
    if name == "reference":
        update = {"evaluate": config.evaluate.model_copy(update=update)}
    with pytest.raises(ConfigError, match="holds a key") as caught:
        request_of(config.model_copy(update=update), "kubeflow", image=IMAGE)
    assert "hush" not in str(caught.value)


def test_a_text_with_a_placeholder_is_refused_with_its_place():
    cluster = {"image": IMAGE, "beam_args": ("--a", "--b={{$.inputs}}")}
    with pytest.raises(ConfigError) as caught:
        request(cluster=cluster)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("kubeflow.beam_args[1]: Kubeflow and Argo replace")


def test_a_log_of_spans_is_no_placeholder():
    log = "s3://bucket/day={SPAN}/*"
    assert request(image=IMAGE, input_base=log).input_base == log

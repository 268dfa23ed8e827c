"""What a compile needs to know, from the configuration and the command line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from data.errors import ConfigError, UsageError
from pipeline.config import PipelineConfig
from pipeline.kubeflow.config import KubeflowConfig
from pipeline.kubeflow.names import pipeline_name_rule
from pipeline.kubeflow.places import (
    STORES,
    folder_rule,
    placeholder_rule,
    shown,
    source_rule,
)

Target = Literal["kubeflow", "vertex"]
# What Kubeflow takes where its administrator has named no other.
DEFAULT_ROOT = "minio://mlpipeline/v2/artifacts"
_STORES = {"kubeflow": STORES, "vertex": ("gs://",)}
# Host and port of a registry, the parts of the name, tag and digest.
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:[a-z0-9][-.a-z0-9]*(?::[0-9]{{1,5}})?/)?{_PART}(?:/{_PART})*"
    r"(?::[a-zA-Z0-9_][-.a-zA-Z0-9_]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """Everything that a compiled pipeline holds besides its configuration.

    Attributes:
        image: image of every component, with its tag or digest.
        pipeline_root: folder of all artifacts.
        input_base: folder, file or pattern of the log.
        serving: folder that receives version directories.
        blessed_model: the pointer to the latest blessed models.
    """

    image: str
    pipeline_root: str
    input_base: str
    serving: str
    blessed_model: str


def request_of(
    config: PipelineConfig,
    target: Target,
    *,
    image: str | None = None,
    pipeline_root: str | None = None,
    input_base: str | None = None,
) -> Request:
    """Completes the options of the command line from the configuration.

    Args:
        config: the configuration.
        target: what to compile for.
        image: overrides the configured image and digest.
        pipeline_root: overrides the configured root.
        input_base: overrides the configured log; ``<root>/<name>/input`` if neither.

    Returns:
        The request.

    Raises:
        UsageError: an option is missing or does not fit the target.
        ConfigError: the pipeline's name, a text or a place of the configuration is
            none that a cluster takes.
    """
    rule = pipeline_name_rule(config.name)
    if rule is not None:
        raise ConfigError(f"name: {config.name!r}: {rule}")
    # Every text of the configuration may become a constant of the compiled pipeline.
    found = list(_placeholders("", config.model_dump(mode="json", by_alias=True)))
    if found:
        raise ConfigError(*found)
    _check_places(config)
    cluster = config.kubeflow or KubeflowConfig()
    root = _root(
        target, cluster.pipeline_root if pipeline_root is None else pipeline_root
    )
    base = f"{root}/{config.name}"
    return Request(
        image=_image(image, cluster),
        pipeline_root=root,
        input_base=_source(input_base, config.input or f"{base}/input"),
        serving=cluster.serving or f"{base}/serving",
        blessed_model=f"{base}/blessed_models.json",
    )


def _root(target: Target, given: str | None) -> str:
    """The pipeline root, without a slash at its end."""
    if given is None:
        if target == "vertex":
            raise UsageError(
                "--pipeline-root: needed for target vertex; pass gs://BUCKET/FOLDER, or "
                "set kubeflow.pipeline_root"
            )
        return DEFAULT_ROOT
    rule = folder_rule(given, _STORES[target])
    if rule is not None:
        raise UsageError(
            f"--pipeline-root {shown(given)}: target {target}: {rule}; pass another"
        )
    return given.rstrip("/")


def _source(given: str | None, otherwise: str) -> str:
    """The place of the log."""
    place = otherwise if given is None else given
    rule = source_rule(place)
    if rule is not None:
        name = "input" if given is None else "--input"
        raise UsageError(f"{name} {shown(place)}: {rule}; correct it")
    return place


def _check_places(config: PipelineConfig) -> None:
    """Refuses files of the configuration that the pods cannot read.

    Raises:
        ConfigError: a scheme is unknown, or a place holds a key.
    """
    places = {
        "schema": config.schema_file,
        "evaluate.reference": config.evaluate.reference,
    }
    for name, place in places.items():
        if place is not None and (rule := source_rule(place)):
            raise ConfigError(f"{name}: {rule}, got {shown(place)}")


def _image(given: str | None, cluster: KubeflowConfig) -> str:
    """The image by its full reference."""
    image = cluster.image if given is None else given
    if image is None:
        raise UsageError(
            "--image: needed, the image of every component; pass "
            "REGISTRY/NAME:TAG, or set kubeflow.image"
        )
    if given is None and cluster.digest is not None:
        image = f"{image}@{cluster.digest}"
    if not _IMAGE.fullmatch(image):
        # Before an '@' may stand a password.
        shown_image = image.rpartition("@")[2]
        raise UsageError(
            f"--image {shown_image!r}: must be REGISTRY/NAME:TAG or "
            "NAME@sha256:DIGEST, the name in lower case; correct it"
        )
    return image


def _placeholders(place: str, value: Any) -> Iterator[str]:
    """Yields a line for each text in which the cluster would replace something."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _placeholders(place, key)
            yield from _placeholders(f"{place}.{key}".lstrip("."), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _placeholders(f"{place}[{index}]", item)
    elif isinstance(value, str) and (rule := placeholder_rule(value)):
        yield f"{place}: {rule}, got {value!r}"

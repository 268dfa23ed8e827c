"""What a compile needs to know, from the configuration and the command line."""

import re
from dataclasses import dataclass
from typing import Literal

from data.errors import ConfigError, UsageError
from pipeline.config import PipelineConfig
from pipeline.kubeflow.config import KubeflowConfig
from pipeline.kubeflow.names import pipeline_name_rule

Target = Literal["kubeflow", "vertex"]
# What Kubeflow takes where its administrator has named no other.
DEFAULT_ROOT = "minio://mlpipeline/v2/artifacts"
_STORES = {"kubeflow": ("gs", "s3", "minio"), "vertex": ("gs",)}
_IMAGE = re.compile(
    r"[a-z0-9]([-._:/a-z0-9]*[a-z0-9])?(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?"
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
        ConfigError: the pipeline's name is none that a cluster takes.
    """
    rule = pipeline_name_rule(config.name)
    if rule is not None:
        raise ConfigError(f"name: {config.name!r}: {rule}")
    cluster = config.kubeflow or KubeflowConfig()
    root = _root(target, pipeline_root or cluster.pipeline_root)
    base = f"{root}/{config.name}"
    return Request(
        image=_image(image, cluster),
        pipeline_root=root,
        input_base=input_base or config.input or f"{base}/input",
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
    scheme, found, path = given.partition("://")
    stores = _STORES[target]
    if not found or scheme not in stores or not path.strip("/"):
        known = " or ".join(f"{one}://BUCKET/FOLDER" for one in stores)
        raise UsageError(
            f"--pipeline-root {given}: target {target} needs {known}; pass one"
        )
    return given.rstrip("/")


def _image(given: str | None, cluster: KubeflowConfig) -> str:
    """The image by its full reference."""
    image = given or cluster.image
    if image is None:
        raise UsageError(
            "--image: needed, the image of every component; pass "
            "REGISTRY/NAME:TAG, or set kubeflow.image"
        )
    if given is None and cluster.digest is not None:
        image = f"{image}@{cluster.digest}"
    if not _IMAGE.fullmatch(image):
        raise UsageError(
            f"--image {image!r}: must be REGISTRY/NAME:TAG or NAME@sha256:DIGEST, the "
            "name in lower case; correct it"
        )
    return image

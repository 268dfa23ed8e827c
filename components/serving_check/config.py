"""Settings of the serving check."""

import pydantic

from data.settings import Settings


class InfraValidatorConfig(Settings):
    """TFX's own InfraValidator: the model in a real TensorFlow Serving, besides.

    Only in the local Docker: TFX compiles no InfraValidator for Kubeflow Pipelines 2,
    and its Kubernetes runner works nowhere else.
    """

    image: str = pydantic.Field(
        "tensorflow/serving", min_length=1, description="Image without its tag."
    )
    tags: tuple[str, ...] = pydantic.Field(
        ("latest",),
        min_length=1,
        description="Versions to try, all of which must pass.",
    )
    rows: int = pydantic.Field(
        10, ge=1, description="Evaluated rows to send as requests."
    )
    max_loading_seconds: int = pydantic.Field(
        60, ge=1, description="The model must have loaded by then."
    )


class ServingCheckConfig(Settings):
    """What a model must do in a process of its own before it is pushed."""

    enabled: bool = True
    # A thousand rows meet every column in its usual forms; the whole check takes some
    # twenty seconds, five of them for these rows one by one.
    rows: int = pydantic.Field(
        1000, ge=1, le=100_000, description="Evaluated rows to replay."
    )
    # Sums of float32 in another order, as batches of another size have them, move a
    # probability by about 1e-7.
    tolerance: float = pydantic.Field(
        1e-6,
        ge=0,
        description="Largest difference from the evaluated prediction of a row.",
    )
    # Machines differ, and so do the models that people can afford.
    max_size_mib: float | None = pydantic.Field(
        None,
        gt=0,
        description="Largest size of the SavedModel on disk; no limit if unset.",
    )
    max_p99_ms: float | None = pydantic.Field(
        None,
        gt=0,
        description="Largest 99th percentile of a request of one row; no limit if unset.",
    )
    timeout_seconds: float = pydantic.Field(
        300, gt=0, description="The process is stopped after this time."
    )
    infra_validator: InfraValidatorConfig | None = pydantic.Field(
        None, description="TensorFlow Serving besides; needs Docker."
    )

    @pydantic.model_validator(mode="after")
    def _is_used(self) -> "ServingCheckConfig":
        if self.infra_validator is not None and not self.enabled:
            raise ValueError(
                "infra_validator: its blessing goes through the serving check; set "
                "enabled: true"
            )
        return self

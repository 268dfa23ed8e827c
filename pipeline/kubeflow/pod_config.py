"""What a configuration says of pods; imports nothing heavy.

Kubernetes and Kubeflow refuse a wrong value only when the task starts, so each is held
to their rules here.
"""

from collections.abc import Callable
from typing import Annotated, Literal

import pydantic

from data.settings import Settings
from pipeline.kubeflow.names import (
    label_key_rule,
    label_rule,
    label_value_rule,
    object_name_rule,
    resource_rule,
    secret_entry_rule,
    variable_rule,
)
from pipeline.kubeflow.quantities import (
    LEAST_CPU,
    MOST_CPU,
    MOST_GPUS,
    MOST_SECONDS,
    memory_rule,
)


def keeps(
    rule: Callable[[str], str | None], show: Callable[[str], str] | None = repr
) -> pydantic.AfterValidator:
    """Holds a text to a rule.

    Args:
        rule: returns the broken rule or None.
        show: how the error shows the text; not at all when None.

    Returns:
        The validator.
    """

    def kept(text: str) -> str:
        broken = rule(text)
        if broken is not None:
            raise ValueError(f"{broken}, got {show(text)}" if show else broken)
        return text

    return pydantic.AfterValidator(kept)


ObjectName = Annotated[str, keeps(object_name_rule)]
Variable = Annotated[str, keeps(variable_rule)]
# Who takes it for the value writes a secret here.
SecretEntry = Annotated[str, keeps(secret_entry_rule, None)]
Seconds = Annotated[int, pydantic.Field(ge=1, le=MOST_SECONDS)]


class Toleration(Settings):
    """A taint of nodes that the pods accept; Kubernetes' own fields."""

    key: Annotated[str, keeps(label_key_rule)] | None = None
    operator: Literal["Exists", "Equal"] = "Exists"
    value: Annotated[str, keeps(label_value_rule)] | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None

    @pydantic.model_validator(mode="after")
    def _value_fits(self) -> "Toleration":
        if (self.value is None) != (self.operator == "Exists"):
            raise ValueError("operator Equal goes with a value, Exists without one")
        if self.key is None and self.operator == "Equal":
            raise ValueError("operator Equal needs a key")
        return self


class Secret(Settings):
    """A secret of the namespace whose entries become environment variables."""

    name: ObjectName
    env: dict[Variable, SecretEntry] = pydantic.Field(
        min_length=1, description="Variable: entry of the secret. Never the value."
    )


class PodSettings(Settings):
    """What one component's pod gets; unset fields come from ``defaults``."""

    cpu: float | None = pydantic.Field(
        None, ge=LEAST_CPU, le=MOST_CPU, description="Cores, such as 0.5."
    )
    memory: Annotated[str, keeps(memory_rule)] | None = pydantic.Field(
        None, description="Such as 8Gi."
    )
    gpu: int | None = pydantic.Field(
        None, ge=0, le=MOST_GPUS, description="Number of accelerators."
    )
    gpu_resource: Annotated[str, keeps(resource_rule)] | None = pydantic.Field(
        None, description="Resource of the cluster; nvidia.com/gpu if unset."
    )
    node_selector: dict[str, str] | None = None
    tolerations: tuple[Toleration, ...] | None = None
    timeout_seconds: Seconds | None = pydantic.Field(
        None, description="The pod is stopped after this time."
    )

    @pydantic.field_validator("node_selector")
    @classmethod
    def _labels_fit(cls, labels: dict[str, str] | None) -> dict[str, str] | None:
        for key, value in (labels or {}).items():
            rule = label_rule(key, value)
            if rule is not None:
                raise ValueError(f"{key}={value}: {rule}")
        return labels

    def over(self, defaults: "PodSettings") -> "PodSettings":
        """These settings, completed by others."""
        given = {
            name: getattr(self, name)
            for name in PodSettings.model_fields
            if getattr(self, name) is not None
        }
        return defaults.model_copy(update=given)


class ComponentSettings(PodSettings):
    """What the pod of one component gets."""

    component: str = pydantic.Field(description="Its id in the pipeline.")

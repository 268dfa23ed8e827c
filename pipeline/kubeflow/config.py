"""The cluster as a configuration declares it; imports nothing heavy."""

from typing import Annotated, Literal

import pydantic

from data.settings import Settings
from pipeline.kubeflow.names import (
    OBJECT_NAME,
    RESOURCE_NAME,
    label_rule,
    parameter_name_rule,
)

# Kubernetes' suffixes of a number of bytes.
_BYTES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
}
_OBJECT = rf"^{OBJECT_NAME.pattern}$"

ObjectName = Annotated[str, pydantic.Field(pattern=_OBJECT, max_length=253)]
EnvName = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Memory = Annotated[str, pydantic.Field(pattern=r"^\d+(\.\d+)?(k|M|G|T|Ki|Mi|Gi|Ti)$")]


def gigabytes(text: str) -> float:
    """A quantity of memory in units of 10^9 bytes: ``4Gi`` is 4.294967296."""
    number = text.rstrip("kMGTi")
    return float(number) * _BYTES[text[len(number) :]] / 10**9


class Retries(Settings):
    """How often a failed task is tried again, and after which pause."""

    count: int = pydantic.Field(2, ge=0, le=10)
    # A drained node is back, or replaced, within a minute or two.
    backoff_seconds: int = pydantic.Field(60, ge=1)
    factor: float = pydantic.Field(2.0, ge=1, description="Growth of the pause.")
    max_backoff_seconds: int = pydantic.Field(600, ge=1)


class Toleration(Settings):
    """A taint of nodes that the pods accept; Kubernetes' own fields."""

    key: str | None = None
    operator: Literal["Exists", "Equal"] = "Exists"
    value: str | None = None
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
    env: dict[EnvName, str] = pydantic.Field(
        min_length=1, description="Variable: entry of the secret. Never the value."
    )


class PodSettings(Settings):
    """What one component's pod gets; unset fields come from ``defaults``."""

    cpu: float | None = pydantic.Field(None, gt=0, description="Cores, such as 0.5.")
    memory: Memory | None = pydantic.Field(None, description="Such as 8Gi.")
    gpu: int | None = pydantic.Field(None, ge=0, description="Number of accelerators.")
    gpu_resource: str | None = pydantic.Field(
        None,
        pattern=rf"^{RESOURCE_NAME.pattern}$",
        description="Resource of the cluster; nvidia.com/gpu if unset.",
    )
    node_selector: dict[str, str] | None = None
    tolerations: tuple[Toleration, ...] | None = None
    timeout_seconds: int | None = pydantic.Field(
        None, ge=1, description="The pod is stopped after this time."
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


class TrainingSettings(PodSettings):
    """The job of the cluster that trains; its pod settings are those of each worker."""

    kind: Literal["TrainJob", "TFJob"] = pydantic.Field(
        "TrainJob", description="Of Kubeflow Trainer 2, or of training operator 1."
    )
    workers: int = pydantic.Field(ge=2, description="Number of pods that train.")
    namespace: ObjectName | None = pydantic.Field(
        None, max_length=63, description="Of the job; the Trainer's own if unset."
    )
    runtime: ObjectName = pydantic.Field(
        "ctr", description="TrainJob: the training runtime of the cluster."
    )
    runtime_kind: Literal["ClusterTrainingRuntime", "TrainingRuntime"] = (
        "ClusterTrainingRuntime"
    )
    pod_patch: Literal["runtimePatches", "podTemplateOverrides"] = pydantic.Field(
        "runtimePatches",
        description="TrainJob: field for the pods, podTemplateOverrides before 2.2.",
    )
    timeout_seconds: int | None = pydantic.Field(
        None, ge=1, description="The job fails after this time; queueing is free."
    )
    restarts: int = pydantic.Field(
        3, ge=0, le=20, description="New starts of a worker that was killed."
    )
    poll_seconds: int = pydantic.Field(
        10, ge=1, le=300, description="Pause between two looks at the job."
    )
    keep: bool = pydantic.Field(False, description="Leave a finished job there.")


class Schedule(Settings):
    """When runs start by themselves."""

    cron: str = pydantic.Field(
        pattern=r"^\S+( \S+){5}$",
        description="Six fields, seconds first: '0 0 4 * * *' is each day at 4.",
    )
    max_concurrency: int = pydantic.Field(1, ge=1, le=10)
    enabled: bool = True


class KubeflowConfig(Settings):
    """Where and how the pipeline runs on a cluster."""

    image: str | None = pydantic.Field(
        None, description="Image of every component; --image overrides it."
    )
    digest: str | None = pydantic.Field(
        None, pattern=r"^sha256:[0-9a-f]{64}$", description="Pins the image."
    )
    pipeline_root: str | None = pydantic.Field(
        None,
        pattern=r"^(gs|s3|minio)://\S+$",
        description="Folder of all artifacts; --pipeline-root overrides it.",
    )
    serving: str | None = pydantic.Field(
        None, description="Folder of pushed versions; under the pipeline root if unset."
    )
    beam_args: tuple[str, ...] | None = pydantic.Field(
        None, description="Flags of Beam; its workers are in the pod if unset."
    )
    service_account: ObjectName | None = None
    image_pull_secrets: tuple[ObjectName, ...] = ()
    secrets: tuple[Secret, ...] = ()
    queue: ObjectName | None = pydantic.Field(
        None, max_length=63, description="Kueue queue that admits the pods."
    )
    caching: bool = pydantic.Field(
        False, description="Answer unchanged tasks from the cache; needs a digest."
    )
    retries: Retries = Retries()
    defaults: PodSettings = PodSettings()
    components: tuple[ComponentSettings, ...] = pydantic.Field(
        (), description="Settings of single components, over the defaults."
    )
    training: TrainingSettings | None = pydantic.Field(
        None, description="Train by a job of several pods; in the Trainer's if unset."
    )
    parameters: dict[str, str] = pydantic.Field(
        {"input_base": "ClickLogExampleGen.input_base"},
        description="Parameters of a run: name -> Component.parameter.",
    )
    schedule: Schedule | None = None

    @pydantic.field_validator("components")
    @classmethod
    def _components_differ(
        cls, components: tuple[ComponentSettings, ...]
    ) -> tuple[ComponentSettings, ...]:
        names = [one.component for one in components]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"'{name}' is given twice; keep one entry")
        return components

    @pydantic.field_validator("parameters")
    @classmethod
    def _parameters_fit(cls, parameters: dict[str, str]) -> dict[str, str]:
        for name, target in parameters.items():
            rule = parameter_name_rule(name)
            if rule is not None:
                raise ValueError(f"'{name}': {rule}")
            if not all(target.rpartition(".")[::2]):
                raise ValueError(f"{name}: must be Component.parameter, got '{target}'")
        return parameters

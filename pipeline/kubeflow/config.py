"""The cluster as a configuration declares it; imports nothing heavy."""

from typing import Annotated, Literal

import pydantic

from data.settings import Settings
from pipeline.kubeflow.cron import cron_rule
from pipeline.kubeflow.names import dns_label_rule, parameter_name_rule, queue_rule
from pipeline.kubeflow.places import folder_rule, serving_rule, shown
from pipeline.kubeflow.pod_config import (
    ComponentSettings,
    ObjectName,
    PodSettings,
    Seconds,
    Secret,
    keeps,
)

# A pause of more than a day is a slip of the unit.
_LONGEST_PAUSE = 86_400
# Workers in step wait for the slowest of them after each batch.
_MOST_WORKERS = 1_000


class Retries(Settings):
    """How often a failed task is tried again, and after which pause."""

    count: int = pydantic.Field(2, ge=0, le=10)
    # A drained node is back, or replaced, within a minute or two.
    backoff_seconds: int = pydantic.Field(60, ge=1, le=_LONGEST_PAUSE)
    factor: float = pydantic.Field(2.0, ge=1, le=10, description="Growth of the pause.")
    max_backoff_seconds: int = pydantic.Field(600, ge=1, le=_LONGEST_PAUSE)


class TrainingSettings(PodSettings):
    """The job of the cluster that trains; its pod settings are those of each worker."""

    kind: Literal["TrainJob", "TFJob"] = pydantic.Field(
        "TrainJob", description="Of Kubeflow Trainer 2, or of training operator 1."
    )
    workers: int = pydantic.Field(
        ge=2, le=_MOST_WORKERS, description="Number of pods that train."
    )
    namespace: Annotated[str, keeps(dns_label_rule)] | None = pydantic.Field(
        None, description="Of the job; the Trainer's own if unset."
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
    timeout_seconds: Seconds | None = pydantic.Field(
        None, description="The job fails after this time; queueing is free."
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

    cron: Annotated[str, keeps(cron_rule)] = pydantic.Field(
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
    pipeline_root: Annotated[str, keeps(folder_rule, shown)] | None = pydantic.Field(
        None,
        description="Folder of all artifacts; --pipeline-root overrides it.",
    )
    serving: Annotated[str, keeps(serving_rule, shown)] | None = pydantic.Field(
        None, description="Folder of pushed versions; under the pipeline root if unset."
    )
    beam_args: tuple[str, ...] | None = pydantic.Field(
        None, description="Flags of Beam; its workers are in the pod if unset."
    )
    service_account: ObjectName | None = None
    image_pull_secrets: tuple[ObjectName, ...] = ()
    secrets: tuple[Secret, ...] = ()
    queue: Annotated[str, keeps(queue_rule)] | None = pydantic.Field(
        None, description="Kueue queue that admits the pods."
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

    @pydantic.field_validator("secrets")
    @classmethod
    def _variables_differ(cls, secrets: tuple[Secret, ...]) -> tuple[Secret, ...]:
        seen: dict[str, str] = {}
        for secret in secrets:
            for variable in secret.env:
                if variable in seen:
                    raise ValueError(
                        f"variable {variable} comes from '{seen[variable]}' and "
                        f"'{secret.name}'; keep one"
                    )
                seen[variable] = secret.name
        return secrets

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

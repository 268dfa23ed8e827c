"""The kinds of jobs that can train, side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipeline.kubeflow.training import tf_job, train_job
from pipeline.kubeflow.training.spec import TrainingSpec
from pipeline.kubeflow.training.state import State


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    Attributes:
        name: as a manifest has it.
        group: of its API.
        version: of its API.
        plural: its resource in the API.
        operator: what has to be installed in the cluster.
        older: what to do where the installed release drops a field.
        pod_label: the label of its pods that holds the job's name.
        spec_of: makes the ``spec`` from settings, name and command.
        state_of: reads the object.
    """

    name: str
    group: str
    version: str
    plural: str
    operator: str
    older: str
    pod_label: str
    spec_of: Callable[[TrainingSpec, str, list[str]], dict[str, Any]]
    state_of: Callable[[dict[str, Any]], State]


KINDS = {
    kind.name: kind
    for kind in (
        JobKind(
            name="TrainJob",
            group="trainer.kubeflow.org",
            version="v1alpha1",
            plural="trainjobs",
            operator="Kubeflow Trainer 2",
            older="Trainer has runtimePatches since 2.2 and had podTemplateOverrides "
            "before; set kubeflow.training.pod_patch",
            pod_label="jobset.sigs.k8s.io/jobset-name",
            spec_of=train_job.spec_of,
            state_of=train_job.state_of,
        ),
        JobKind(
            name="TFJob",
            group="kubeflow.org",
            version="v1",
            plural="tfjobs",
            operator="Kubeflow training operator 1",
            older="it is not the v1 of training operator 1; upgrade the operator",
            pod_label="training.kubeflow.org/job-name",
            spec_of=tf_job.spec_of,
            state_of=tf_job.state_of,
        ),
    )
}

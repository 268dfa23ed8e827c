"""The ``run_fn`` of the compiled Trainer: others train, this starts them and waits.

The Trainer's pod needs no accelerator. Kubeflow's launcher takes the outputs from the
pod's folders, so what the job has written to the store is fetched back into them.
"""

import posixpath
from typing import Any

import click

from components.training_job import TrainingJob
from data import paths
from data.errors import RunError
from pipeline.kubeflow import storage
from pipeline.kubeflow.training.connection import connect, namespace_of
from pipeline.kubeflow.training.jobs import Jobs
from pipeline.kubeflow.training.kinds import KINDS
from pipeline.kubeflow.training.lifecycle import run_job
from pipeline.kubeflow.training.spec import KEY, TrainingSpec


def run_fn(fn_args: Any) -> None:
    """Trains by a job of the cluster.

    Args:
        fn_args: TFX's ``FnArgs``; ``custom_config`` also holds a ``TrainingSpec``.

    Raises:
        RunError: the job was refused, failed or left no model.
        ConfigError: the namespace is not known.
    """
    spec = TrainingSpec.model_validate_json(fn_args.custom_config[KEY])
    job = remote_job(fn_args)
    uri = f"{posixpath.dirname(job.model_run_dir)}/training_job.json"
    with paths.open_write(uri) as file:
        file.write(job.model_dump_json(indent=2).encode())
    kind = KINDS[spec.training.kind]
    jobs = Jobs(connect(), kind, namespace_of(spec.training.namespace))
    run_job(jobs, spec, uri, _note)
    for remote, local in (
        (job.serving_model_dir, fn_args.serving_model_dir),
        (job.model_run_dir, fn_args.model_run_dir),
    ):
        if not paths.is_dir(remote):
            raise RunError(
                f"{remote}: nothing there, though the training succeeded; check that "
                "the workers may write to the store"
            )
        if remote != local:
            paths.copy_tree(remote, local)


def remote_job(fn_args: Any) -> TrainingJob:
    """The training as pods of other nodes can read it.

    Args:
        fn_args: TFX's ``FnArgs``, with folders of this pod.

    Returns:
        The job, with URIs of the store and without the settings of the cluster.
    """
    content = TrainingJob.from_fn_args(fn_args).model_dump(mode="json")
    del content["custom_config"][KEY]
    return TrainingJob.model_validate(storage.to_remote(content))


def _note(text: str) -> None:
    """Writes a line to the log of the pod."""
    click.echo(f"training: {text}", err=True)

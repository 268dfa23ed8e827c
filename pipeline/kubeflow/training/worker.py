"""What each pod of the job runs: ``ctr train`` between a fetch and a put.

TensorFlow reads ``gs://`` itself. What lies under ``s3://`` and ``minio://`` is fetched
whole, so each pod needs room for the packed rows. All outputs are written to the local
disk first; the chief puts them where the job says.
"""

import argparse
import json
import posixpath
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

from components.cluster.supervisor import LOST_EXIT_CODE, Supervisor
from components.training_job import TrainingJob, find_place
from data import paths
from data.disk_faults import disk_error
from data.errors import ConfigError, CtrError
from data.settings import parse
from pipeline.kubeflow import storage
from pipeline.kubeflow.training.retry import retried

# 128 + SIGUSR1, which training operator 1 leaves to programs that want a new pod.
NEW_POD_EXIT_CODE = 138


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains as one worker, and ends with the exit code of ``work``.

    Args:
        arguments: of the command line.
    """
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--job", required=True, help="URI of the job file.")
    parser.add_argument("--restarts", type=int, default=3)
    options = parser.parse_args(arguments)
    try:
        code = work(options.job, options.restarts)
    except CtrError as error:
        click.echo(f"error: {error}", err=True)
        code = error.exit_code
    except OSError as error:
        # Of the store: no such file, no credentials, no connection.
        click.echo(f"error: {' '.join(str(error).split())}", err=True)
        code = 1
    sys.exit(code)


def work(uri: str, restarts: int) -> int:
    """Does this pod's part of a job.

    Args:
        uri: of the job file.
        restarts: how often to start the training again at most.

    Returns:
        The exit code of the training; ``NEW_POD_EXIT_CODE`` if it lost its cluster
        more often than it may start again.

    Raises:
        ConfigError: there is no such job, or cluster and strategy do not fit.
    """
    job = retried(lambda: _load(uri), time.sleep, _is_passing)
    cluster = find_place(job)
    with tempfile.TemporaryDirectory(prefix="training-") as folder:
        path = Path(folder, "job.json")
        local = localized(job, folder)
        local.save(path)
        command = [sys.executable, "-m", "pipeline.cli.main", "train"]
        command += ["--job", str(path), "--restarts", "0"]
        code = Supervisor(command, restarts, _note).run()
        if code == 0 and (cluster is None or cluster.is_chief):
            _copy_tree(local.serving_model_dir, job.serving_model_dir)
            _copy_tree(local.model_run_dir, job.model_run_dir)
    return NEW_POD_EXIT_CODE if code == LOST_EXIT_CODE else code


def localized(job: TrainingJob, folder: str) -> TrainingJob:
    """Fetches what TensorFlow cannot read, and writes to the local disk.

    Args:
        job: with URIs.
        folder: of this pod.

    Returns:
        The job with local folders in their places.
    """
    patterns = (*job.train_files, *job.eval_files)
    packed = {
        artifact: _readable(artifact, f"{folder}/packed-{number}")
        for number, artifact in enumerate(sorted(set(map(_artifact_of, patterns))))
    }

    def moved(pattern: str) -> str:
        artifact = _artifact_of(pattern)
        return packed[artifact] + pattern.removeprefix(artifact)

    return job.model_copy(
        update={
            "train_files": tuple(map(moved, job.train_files)),
            "eval_files": tuple(map(moved, job.eval_files)),
            "transform_output": _readable(job.transform_output, f"{folder}/transform"),
            "serving_model_dir": f"{folder}/model",
            "model_run_dir": f"{folder}/model_run",
        }
    )


def _artifact_of(pattern: str) -> str:
    """The artifact of ``<artifact>/Split-<name>/*``, which has a manifest at its top."""
    return posixpath.dirname(posixpath.dirname(pattern))


def _readable(uri: str, folder: str) -> str:
    """The URI, or the folder it was fetched to."""
    if not storage.needs_arrow(uri):
        return uri
    _copy_tree(uri, folder)
    return folder


def _load(uri: str) -> TrainingJob:
    """Reads the job file."""
    if not paths.exists(uri):
        raise ConfigError(f"{uri}: no such job; the Trainer step writes it")
    with paths.open_read(uri) as file:
        return parse(TrainingJob, json.loads(file.read()), uri)


def _copy_tree(source: str, target: str) -> None:
    """Copies a folder, again where the store is away for a moment.

    A new pod would be no help after the training: the other workers have ended.
    """
    retried(lambda: paths.copy_tree(source, target), time.sleep, _is_passing)


def _is_passing(error: Exception) -> bool:
    """Whether a store may answer later; an absent file and a full disk do not pass."""
    return (
        isinstance(error, OSError)
        and not isinstance(error, FileNotFoundError)
        and disk_error(error) is None
    )


def _note(text: str) -> None:
    """Tells why the training starts again."""
    click.echo(f"training: {text}", err=True)


if __name__ == "__main__":
    main()

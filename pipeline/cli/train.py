"""``ctr train``: one process of a training, alone or in a cluster."""

import logging
import sys
from pathlib import Path

import click

from pipeline.cli.options import LOCAL_FILE


@click.command()
@click.option(
    "--job",
    "path",
    required=True,
    type=LOCAL_FILE,
    help="JSON file of the training.",
)
@click.option(
    "--restarts",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="How often to start again when killed, or when the cluster is lost.",
)
@click.option("-v", "--verbose", is_flag=True, help="Let the libraries log.")
def train(path: Path, restarts: int, verbose: bool) -> None:
    """Train the model of a job file; every process of a cluster runs this command.

    Which process this is stands in its environment: TF_CONFIG, or what Slurm and
    Kubernetes set. With --restarts 0 it trains in this very process. Exit code 75 says
    that the cluster was lost and nobody started this process again.
    """
    if restarts == 0:
        _train(path, verbose)
        return
    from components.cluster.supervisor import Supervisor
    from components.training_job import TrainingJob, find_place

    # What is faulty now would be so at every start.
    find_place(TrainingJob.load(path))
    command = [sys.executable, "-m", "pipeline.cli.main", "train"]
    command += ["--job", str(path), "--restarts", "0", *(["-v"] if verbose else [])]
    sys.exit(Supervisor(command, restarts, _note).run())


def _train(path: Path, verbose: bool) -> None:
    """Trains in this process; our own lines go to the terminal, the libraries' not."""
    if verbose:
        logging.basicConfig(level=logging.INFO)
    else:
        from pipeline.cli.quiet import silence

        silence()
        _show_own_lines()
    from components.training_job import TrainingJob, run

    run(TrainingJob.load(path))


def _show_own_lines() -> None:
    """Lets our own loggers through where all others are silenced."""
    logging.disable(logging.NOTSET)
    logging.getLogger().setLevel(logging.CRITICAL)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("ctr")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def _note(text: str) -> None:
    """Prints why the training starts again."""
    click.echo(f"training: {text}", err=True)

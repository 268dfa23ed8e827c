"""A task lost in the middle of a training: one error that names it.

TensorFlow notices it after ten seconds without a heartbeat, or at once where a connection
breaks, and cannot go on: every process of the cluster has to start again.
"""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

from components.cluster.probe import named, silent
from components.cluster.supervisor import LOST_EXIT_CODE
from components.cluster.tasks import Cluster
from data.errors import RunError

# What collectives and calls to servers raise when the other side is gone; Cancelled and
# Aborted come from steps that another step's failure took along.
LOSSES = (
    tf.errors.UnavailableError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
)


class ClusterLostError(RunError):
    """A task of the cluster is gone; ``ctr train`` starts this process again."""

    exit_code = LOST_EXIT_CODE


@contextlib.contextmanager
def cluster_losses(cluster: Cluster | None) -> Iterator[None]:
    """Turns TensorFlow's errors about lost tasks into one line.

    Args:
        cluster: the cluster of this process; without one, errors pass through.

    Raises:
        ClusterLostError: a task is gone.
    """
    try:
        yield
    except LOSSES as error:
        if cluster is None:
            raise
        gone = silent(cluster.peers)
        who = f"no answer from {named(gone)}" if gone else "all tasks answer again"
        raise ClusterLostError(
            f"cluster: lost during training: {who} ({type(error).__name__}); start "
            "this process again, as ctr train does"
        ) from error

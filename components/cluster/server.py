"""What workers and parameter servers run: a server, until the chief is gone."""

import logging
import os
import time

import tensorflow as tf

from components.cluster.probe import answers
from components.cluster.tasks import Cluster
from components.cluster.waiting import TIMEOUT_SECONDS, wait_for

_LOG = logging.getLogger("ctr.cluster")
_PAUSE_SECONDS = 2.0
# A chief that was lost needs half of it to start again, import TensorFlow and listen.
GRACE_SECONDS = 60.0


def serve(
    cluster: Cluster,
    timeout: float = TIMEOUT_SECONDS,
    grace: float = GRACE_SECONDS,
) -> None:
    """Serves the chief; returns when it has not answered for a while.

    TensorFlow's own ``Server.join`` never returns, and no message says that training is
    over. The chief's port is open as long as its process lives, so that is watched.

    Args:
        cluster: the cluster of this process, which is a worker or a parameter server.
        timeout: seconds in which the chief must answer for the first time.
        grace: seconds without an answer after which the chief counts as gone.

    Raises:
        RunError: the chief never answered.
    """
    _LOG.info("cluster: %s", cluster)
    # A call to a lost task raises at the caller instead of being repeated for ever.
    os.environ["GRPC_FAIL_FAST"] = "use_caller"
    # Named, since the server ends when nothing refers to it.
    _server = tf.distribute.Server(
        tf.train.ClusterSpec(dict(cluster.addresses)),
        job_name=cluster.task_type,
        task_index=cluster.task_index,
        protocol="grpc",
        start=True,
    )
    wait_for((cluster.chief,), timeout)
    last_answer = time.monotonic()
    while time.monotonic() - last_answer < grace:
        if answers(cluster.chief):
            last_answer = time.monotonic()
        time.sleep(_PAUSE_SECONDS)
    _LOG.info("the chief is gone; so ends %s", cluster.task)

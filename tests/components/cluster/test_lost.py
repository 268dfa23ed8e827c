"""Errors about lost tasks become one line that names them."""

import socket

import pytest
import tensorflow as tf

from components.cluster.lost import ClusterLostError, cluster_losses
from components.cluster.tasks import Cluster


def lost(kind):
    return kind(None, None, "connection reset by peer\nand more")


def test_the_task_that_is_gone_is_named():
    with (
        socket.create_server(("127.0.0.1", 0)) as here,
        socket.create_server(("127.0.0.1", 0)) as gone,
    ):
        addresses = tuple(
            f"127.0.0.1:{one.getsockname()[1]}" for one in (here, here, gone)
        )
        gone.close()
        cluster = Cluster({"worker": ("127.0.0.1:1", *addresses[1:])}, "worker", 0)
        with pytest.raises(ClusterLostError) as caught, cluster_losses(cluster):
            raise lost(tf.errors.UnavailableError)

    (line,) = str(caught.value).splitlines()
    assert f"no answer from worker 2 ({addresses[2]}) (UnavailableError)" in line
    assert caught.value.exit_code == 75


def test_a_task_that_is_back_is_not_blamed():
    cluster = Cluster({"worker": ("127.0.0.1:1",)}, "worker", 0)

    with (
        pytest.raises(ClusterLostError, match="all tasks answer again"),
        cluster_losses(cluster),
    ):
        raise lost(tf.errors.AbortedError)


def test_other_errors_and_those_of_a_single_process_pass_through():
    cluster = Cluster({"worker": ("127.0.0.1:1",)}, "worker", 0)

    with pytest.raises(tf.errors.InvalidArgumentError), cluster_losses(cluster):
        raise lost(tf.errors.InvalidArgumentError)
    with pytest.raises(tf.errors.UnavailableError), cluster_losses(None):
        raise lost(tf.errors.UnavailableError)

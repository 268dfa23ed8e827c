"""Which devices train: the distribution strategy that the configuration names."""

import contextlib
import logging
import os
from typing import Any

import tensorflow as tf

from components.cluster.discovery import find_cluster
from components.cluster.lost import LOSSES, cluster_losses
from components.cluster.tasks import Cluster
from components.cluster.waiting import TIMEOUT_SECONDS, deadline, meet, part
from components.strategy_rules import check_strategy
from data.errors import RunError

_LOG = logging.getLogger("ctr.cluster")


def make_strategy(
    name: str,
    cluster: Cluster | None = None,
    *,
    devices: tuple[str, ...] | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> Any:
    """Makes the strategy; model and optimizer must be made under its ``scope()``.

    Accelerator memory is taken as needed instead of all at once, so that several
    processes (an evaluation beside a training) can share a device. In a cluster this
    must come before TensorFlow computes anything.

    Args:
        name: ``default`` (one device), ``mirrored`` (all accelerators of this machine,
            or its only device where there is none), ``multi_worker_mirrored`` (those of
            all workers), ``parameter_server`` or ``tpu``.
        cluster: the cluster of this process, which the two before the last need.
        devices: for ``mirrored``, devices to use instead, such as
            ``("CPU:0", "CPU:1")``.
        timeout: seconds in which all tasks of the cluster must answer.

    Returns:
        A ``tf.distribute.Strategy``.

    Raises:
        ConfigError: the name is unknown, or does not go with the cluster.
        RunError: a task of the cluster never answered, or there is no TPU.
    """
    warning = check_strategy(name, cluster)
    if warning is not None:
        _LOG.warning(warning)
    _grow_memory()
    if name == "mirrored":
        return _mirrored(devices)
    if name == "tpu":
        return _tpu()
    if name == "default" or cluster is None:
        return tf.distribute.get_strategy()
    _LOG.info("cluster: %s", cluster)
    meet(cluster, timeout)
    with cluster_losses(cluster), deadline(timeout):
        if name == "parameter_server":
            return _parameter_server(cluster)
        return _multi_worker(cluster)


def meet_again(strategy: Any) -> None:
    """Waits for the other workers, when this one has nothing left to compute.

    Worker 0 keeps the roll of the cluster: were it gone first, TensorFlow would end the
    others while they still write. So it goes last.

    Args:
        strategy: the strategy of the training; of a single process nothing happens.
    """
    cluster = find_cluster(os.environ)
    is_cluster = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
    if cluster is None or not is_cluster:
        return

    @tf.function
    def roll_call() -> tf.Tensor:
        ones = strategy.run(tf.ones, args=([],))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, ones, axis=None)

    # Who has left already had the answers of all: nothing is lost by its absence.
    with contextlib.suppress(*LOSSES):
        roll_call()
    part(cluster)


def _mirrored(devices: tuple[str, ...] | None) -> Any:
    """Replicas on the devices of this machine."""
    if devices is None:
        return tf.distribute.MirroredStrategy()
    return tf.distribute.MirroredStrategy(
        devices=list(devices),
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )


def _multi_worker(cluster: Cluster) -> Any:
    """Replicas on the devices of all workers, which sum gradients in step."""
    # Its resolver counts GPUs right only where it reads the variable itself.
    os.environ["TF_CONFIG"] = cluster.to_tf_config()
    return tf.distribute.MultiWorkerMirroredStrategy()


def _parameter_server(cluster: Cluster) -> Any:
    """The chief's side of parameter servers; the model cuts its tables itself."""
    # Else a call to a lost server is repeated for ever instead of raising.
    os.environ["GRPC_FAIL_FAST"] = "use_caller"
    return tf.distribute.ParameterServerStrategy(
        tf.distribute.cluster_resolver.SimpleClusterResolver(
            tf.train.ClusterSpec(dict(cluster.addresses)),
            task_type=cluster.task_type,
            task_id=cluster.task_index,
            rpc_layer="grpc",
        )
    )


def _tpu() -> Any:
    """Replicas on the cores of a TPU: of this machine, or of ``TPU_NAME``."""
    try:
        # "local" is a TPU VM; only without one is a name looked up.
        name = os.environ.get("TPU_NAME", "local")
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(name)
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
    except (ValueError, RuntimeError, tf.errors.OpError) as error:
        reason = str(error).strip().split("\n")[0]
        raise RunError(
            f"train.strategy: tpu: no TPU found ({reason}); run on a TPU VM, set "
            "TPU_NAME, or take another strategy"
        ) from None
    return tf.distribute.TPUStrategy(resolver)


def _grow_memory() -> None:
    """Lets accelerators take memory step by step, where this can still be set."""
    for device in tf.config.list_physical_devices("GPU"):
        try:
            tf.config.experimental.set_memory_growth(device, True)
        except RuntimeError:
            # The device is already in use by this process; its setting stands.
            return

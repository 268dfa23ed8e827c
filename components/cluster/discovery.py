"""Finds the cluster that this process belongs to in its environment variables."""

from collections.abc import Mapping

from components.cluster.addresses import address_faults
from components.cluster.kubernetes import find_indexed_job, find_train_job
from components.cluster.slurm import find_slurm
from components.cluster.tasks import Cluster
from components.cluster.tf_config import parse_tf_config
from data.errors import ConfigError


def find_cluster(environ: Mapping[str, str]) -> Cluster | None:
    """Finds the cluster; nothing connects.

    The first of these that is set decides: TF_CONFIG, Kubeflow's TrainJob, an Indexed
    Job of Kubernetes, a step of Slurm.

    Args:
        environ: environment variables.

    Returns:
        The cluster, or None for a process on its own.

    Raises:
        ConfigError: the variables contradict each other or are faulty.
    """
    for find in (_find_tf_config, find_train_job, find_indexed_job, find_slurm):
        cluster = find(environ)
        if cluster is None:
            continue
        fault = address_faults(cluster.addresses)
        if fault is not None:
            raise ConfigError(f"{cluster.source}: {fault}")
        return cluster
    return None


def _find_tf_config(environ: Mapping[str, str]) -> Cluster | None:
    """The cluster of TF_CONFIG, which TFJob and Vertex AI set, too."""
    text = environ.get("TF_CONFIG", "").strip()
    return parse_tf_config(text) if text else None

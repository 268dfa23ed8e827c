"""Clusters of Kubernetes: Indexed Jobs, JobSets and Kubeflow's TrainJobs.

An Indexed Job tells a pod its index and no more:
https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
"""

from collections.abc import Mapping

from components.cluster.numbered import number, numbered_cluster
from components.cluster.tasks import Cluster
from data.errors import ConfigError

_INDEX = "{index}"


def find_train_job(environ: Mapping[str, str]) -> Cluster | None:
    """Reads what the torch runtimes of Kubeflow Trainer 2 set.

    These name node 0, ``<job>-node-0-0.<job>``; the others differ in the last number.

    Args:
        environ: environment variables.

    Returns:
        The cluster, or None outside of a TrainJob and in one of a single node.

    Raises:
        ConfigError: the variables are faulty.
    """
    if "PET_NNODES" not in environ or "PET_MASTER_ADDR" not in environ:
        return None
    nodes = number(environ, "PET_NNODES", least=1)
    if nodes == 1:
        return None
    first = environ["PET_MASTER_ADDR"]
    name, _, domain = first.partition(".")
    if not name.endswith("-0") or not domain:
        raise ConfigError(
            "PET_MASTER_ADDR: must name node 0 as <job>-node-0-0.<service>, got "
            f"{first!r}; set TF_CONFIG instead"
        )
    stem = name.removesuffix("0")
    places = [(f"{stem}{index}.{domain}", 0) for index in range(nodes)]
    rank = number(environ, "PET_NODE_RANK")
    return numbered_cluster(environ, places, rank, "Kubeflow Trainer")


def find_indexed_job(environ: Mapping[str, str]) -> Cluster | None:
    """Reads the index of a pod and, from the pod's template, how many pods there are.

    Args:
        environ: environment variables.

    Returns:
        The cluster, or None where CTR_WORKERS is absent or 1: an Indexed Job can also
        be many trainings of one process each.

    Raises:
        ConfigError: the variables are faulty.
    """
    if number(environ, "CTR_WORKERS", 1, least=1) == 1:
        return None
    pattern = environ.get("CTR_WORKER_HOST", "")
    if pattern.count(_INDEX) != 1:
        raise ConfigError(
            "CTR_WORKER_HOST: must hold {index} once, such as train-{index}.train for "
            f"pods of the Job train below its headless service, got {pattern!r}"
        )
    places = [
        (pattern.replace(_INDEX, str(index)), 0)
        for index in range(number(environ, "CTR_WORKERS"))
    ]
    rank = number(environ, "JOB_COMPLETION_INDEX")
    return numbered_cluster(environ, places, rank, "Kubernetes")

"""The cluster of a Slurm step: every process that one ``srun`` started.

Variables: https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
"""

from collections.abc import Mapping

from components.cluster.host_list import expand_hosts, expand_tasks
from components.cluster.numbered import number, numbered_cluster
from components.cluster.tasks import Cluster
from data.errors import ConfigError


def find_slurm(environ: Mapping[str, str]) -> Cluster | None:
    """Reads the step's variables, which only processes of ``srun`` have.

    Args:
        environ: environment variables.

    Returns:
        The cluster, or None outside of a step and in a step of one process.

    Raises:
        ConfigError: the variables are faulty, or ranks do not go node by node.
    """
    if "SLURM_STEP_NODELIST" not in environ:
        return None
    name = "SLURM_STEP_TASKS_PER_NODE"
    hosts = expand_hosts(environ["SLURM_STEP_NODELIST"], "SLURM_STEP_NODELIST")
    tasks = expand_tasks(environ.get(name, ""), name)
    if len(hosts) != len(tasks):
        raise ConfigError(
            f"{name}: {environ[name]!r} is for {len(tasks)} nodes, but "
            f"SLURM_STEP_NODELIST names {len(hosts)}; start the processes with srun"
        )
    if sum(tasks) == 1:
        return None
    places = [
        (host, local)
        for host, count in zip(hosts, tasks, strict=True)
        for local in range(count)
    ]
    rank = number(environ, "SLURM_PROCID")
    cluster = numbered_cluster(environ, places, rank, "Slurm")
    node, local = number(environ, "SLURM_NODEID"), number(environ, "SLURM_LOCALID")
    if (hosts.index(places[rank][0]), places[rank][1]) != (node, local):
        raise ConfigError(
            f"SLURM_PROCID: rank {rank} is process {local} of node {node}, so ranks do "
            "not go node by node; start with srun --distribution=block"
        )
    return cluster

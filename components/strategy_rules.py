"""Which cluster each strategy needs; checked before anything connects."""

from typing import get_args

from components.cluster.tasks import Cluster
from components.config import Strategy
from data.errors import ConfigError, suggest

STRATEGIES = get_args(Strategy)


def check_strategy(name: str, cluster: Cluster | None) -> str | None:
    """Checks that strategy and cluster go together.

    Args:
        name: of the strategy.
        cluster: the cluster of this process, if it has one.

    Returns:
        A warning where the cluster is not used, else None.

    Raises:
        ConfigError: the name is unknown, or the strategy needs another cluster.
    """
    if name not in STRATEGIES:
        raise ConfigError(
            f"train.strategy: unknown strategy '{name}'. Known: "
            f"{', '.join(STRATEGIES)}.{suggest(name, STRATEGIES)}"
        )
    place = f"train.strategy: {name}"
    is_clustered = name in {"multi_worker_mirrored", "parameter_server"}
    if cluster is None:
        if is_clustered:
            raise ConfigError(
                f"{place} needs a cluster and found none; set TF_CONFIG, or start the "
                "processes with Slurm or Kubernetes"
            )
        return None
    if not is_clustered:
        return (
            f"{place} does not use the cluster of {cluster.source}: each process trains "
            "a model of its own, and the chief's is kept; take multi_worker_mirrored"
        )
    if name == "multi_worker_mirrored" and cluster.has_parameter_servers:
        raise ConfigError(
            f"{place} has no use for ps, of which the cluster is {cluster}; list workers "
            "only, or take parameter_server"
        )
    if name == "parameter_server" and not cluster.has_parameter_servers:
        raise ConfigError(
            f"{place} needs a chief and ps, but the cluster is {cluster}; list them, or "
            "set CTR_PARAMETER_SERVERS"
        )
    return None

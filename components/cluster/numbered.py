"""Clusters whose processes are only numbered: their variables, and who does what."""

from collections.abc import Mapping

from components.cluster.tasks import Cluster
from data.errors import ConfigError

# The port that TFJob and TensorFlow's own examples take.
_PORT = 2222


def number(
    environ: Mapping[str, str], name: str, default: int | None = None, least: int = 0
) -> int:
    """Reads a whole number.

    Args:
        environ: environment variables.
        name: of the variable.
        default: its value where it is not set; None demands it.
        least: the smallest value that makes sense.

    Returns:
        The number.

    Raises:
        ConfigError: it is absent, no number or too small.
    """
    text = environ.get(name)
    if text is None and default is not None:
        return default
    if text is None:
        raise ConfigError(f"{name}: needed beside the other variables; set it")
    # isdecimal alone takes digits of other scripts.
    if not (text.isascii() and text.isdecimal() and int(text) >= least):
        raise ConfigError(f"{name}: must be a whole number >= {least}, got {text!r}")
    return int(text)


def numbered_cluster(
    environ: Mapping[str, str], places: list[tuple[str, int]], rank: int, source: str
) -> Cluster:
    """Gives addresses and roles to processes by their rank.

    CTR_PORT is the port of the first process on a host. With CTR_PARAMETER_SERVERS=n
    rank 0 is the chief, the next n ranks hold variables and the rest are workers.

    Args:
        environ: environment variables.
        places: host of each process and its number on that host, by rank.
        rank: of this process.
        source: who numbered them.

    Returns:
        The cluster.

    Raises:
        ConfigError: the rank is not below the number of processes, or too few
            processes are left to work.
    """
    if rank >= len(places):
        raise ConfigError(
            f"{source}: rank {rank} of {len(places)} processes; ranks count from 0"
        )
    port = number(environ, "CTR_PORT", _PORT, least=1)
    addresses = [f"{host}:{port + local}" for host, local in places]
    servers = number(environ, "CTR_PARAMETER_SERVERS", 0)
    if not servers:
        return Cluster({"worker": tuple(addresses)}, "worker", rank, source)
    first_worker = 1 + servers
    if first_worker >= len(addresses):
        raise ConfigError(
            f"CTR_PARAMETER_SERVERS: {servers} servers and a chief leave no worker of "
            f"{len(addresses)} processes; start more, or lower it"
        )
    roles = [("chief", 0)]
    roles += [("ps", index) for index in range(servers)]
    roles += [("worker", index) for index in range(len(addresses) - first_worker)]
    return Cluster(
        {
            "chief": tuple(addresses[:1]),
            "ps": tuple(addresses[1:first_worker]),
            "worker": tuple(addresses[first_worker:]),
        },
        *roles[rank],
        source,
    )

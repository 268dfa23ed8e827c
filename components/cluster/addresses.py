"""Rules for the addresses of a cluster."""

import re
from collections.abc import Mapping, Sequence

_HOST_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}")
_EVERY_INTERFACE = ("0.0.0.0", "[::]")  # noqa: S104 (refused, not bound)
_LOOPBACK = ("localhost:", "127.", "[::1]:")


def address_fault(address: str) -> str | None:
    """Says what is wrong with one address.

    Args:
        address: as given.

    Returns:
        Rule and remedy, or None for a good one.
    """
    host, colon, port = address.rpartition(":")
    if "://" in address:
        fault = "has a scheme"
    elif any(map(str.isspace, address)):
        fault = "has blanks"
    elif not colon:
        fault = "has no port"
    elif not host:
        fault = "has no host"
    elif not _HOST_PORT.fullmatch(address):
        fault = "is not a host and a port"
    elif not 1 <= int(port) <= 65535:
        fault = "has a port outside of 1 to 65535"
    elif host in _EVERY_INTERFACE:
        fault = "is no place that others can reach"
    else:
        return None
    return f"{fault}; write host:port, such as 10.0.0.1:2222"


def address_faults(addresses: Mapping[str, Sequence[str]]) -> str | None:
    """Says what is wrong with addresses, each for itself or together.

    Args:
        addresses: by task type.

    Returns:
        Place, value, rule and remedy of the first fault, or None.
    """
    seen: dict[str, str] = {}
    for kind, members in addresses.items():
        for index, address in enumerate(members):
            place = f"cluster.{kind}[{index}]"
            fault = address_fault(address)
            if fault is not None:
                return f"{place}: {address!r} {fault}"
            first = seen.setdefault(_canonical(address), place)
            if first != place:
                return (
                    f"{place}: {address!r} is also {first}; "
                    "give each task an address of its own"
                )
    return _mixed_loopback(list(seen), list(seen.values()))


def _canonical(address: str) -> str:
    """One spelling of an address."""
    host, _, port = address.lower().rpartition(":")
    return f"{'127.0.0.1' if host == 'localhost' else host}:{int(port)}"


def _mixed_loopback(addresses: list[str], places: list[str]) -> str | None:
    """A host that only its own machine reaches, in a cluster of several machines."""
    local = [address.startswith(_LOOPBACK) for address in addresses]
    if all(local) or not any(local):
        return None
    at = local.index(True)
    return (
        f"{places[at]}: '{addresses[at]}' is reached from its own machine only, and "
        f"{places[local.index(False)]} is on another; name the host"
    )

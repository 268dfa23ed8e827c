"""Slurm's short forms: lists of hosts, and numbers of tasks per node.

``scontrol show hostnames`` does the same but need not be in a container, and TensorFlow's
``SlurmClusterResolver`` sorts hosts as text, so that of node9 and node10 the tasks are
taken for each other's.
"""

import itertools
import re

from data.errors import ConfigError

# Hosts are parted by commas outside of brackets.
_ENTRY = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?")


def expand_hosts(text: str, place: str) -> list[str]:
    """Expands a list such as ``node[01-03,07],gpu5``.

    Args:
        text: the list.
        place: where it is from, for the error.

    Returns:
        The hosts in their order; leading zeros stay.

    Raises:
        ConfigError: this is no such list.
    """
    entries = _ENTRY.findall(text)
    if not entries or ",".join(entries) != text:
        raise _fault(text, place)
    return [
        "".join(parts)
        for entry in entries
        for parts in itertools.product(
            *(
                [literal] if literal else _numbers(ranges, text, place)
                for ranges, literal in _PART.findall(entry)
            )
        )
    ]


def expand_tasks(text: str, place: str) -> list[int]:
    """Expands numbers of tasks such as ``2(x3),1`` to ``[2, 2, 2, 1]``.

    Args:
        text: the numbers.
        place: where they are from, for the error.

    Returns:
        Tasks of each node.

    Raises:
        ConfigError: these are no such numbers.
    """
    tasks: list[int] = []
    for part in text.split(","):
        found = _TASKS.fullmatch(part)
        if found is None:
            raise ConfigError(
                f"{place}: must be tasks per node such as 2(x3),1, got {text!r}; start "
                "the processes with srun, which sets it"
            )
        tasks += [int(found[1])] * int(found[2] or 1)
    return tasks


def _numbers(ranges: str, text: str, place: str) -> list[str]:
    """The numbers between two brackets, at the width of each range's first one."""
    numbers: list[str] = []
    for part in ranges.split(","):
        found = _RANGE.fullmatch(part)
        if found is None:
            raise _fault(text, place)
        first, last = found[1], found[2] or found[1]
        if int(last) < int(first):
            raise _fault(text, place)
        numbers += [
            str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)
        ]
    return numbers


def _fault(text: str, place: str) -> ConfigError:
    """The error for a list of hosts."""
    return ConfigError(
        f"{place}: must be hosts such as node[01-03,07],gpu5, got {text!r}; start the "
        "processes with srun, which sets it"
    )

"""Quantities of a pod, within what some node could have.

Kubernetes takes any number and lets the pod wait for a node that is not there.
"""

import re

# Kubernetes' suffixes of a number of bytes.
_BYTES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
}
_MEMORY = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?(k|M|G|T|Ki|Mi|Gi|Ti)")
# Kubernetes counts processors in thousandths.
LEAST_CPU = 0.001
# Several times what the largest machines for rent have.
MOST_CPU = 10_000
MOST_GPUS = 1_000
_MOST_GIGABYTES = 1_000_000
# No container runtime starts a process with less than 6 MiB.
_LEAST_GIGABYTES = 0.01
# An int32 of seconds: what Kubernetes takes for a pod's time.
MOST_SECONDS = 2**31 - 1


def memory_rule(text: str) -> str | None:
    """The rule that a quantity of memory breaks, or None."""
    if not _MEMORY.fullmatch(text):
        return "must be a number and one of k, M, G, T, Ki, Mi, Gi, Ti, such as 8Gi"
    if not _LEAST_GIGABYTES <= gigabytes(text) <= _MOST_GIGABYTES:
        return "must be 10M to 1000T"
    return None


def gigabytes(text: str) -> float:
    """A quantity of memory in units of 10^9 bytes: ``4Gi`` is 4.294967296."""
    number = text.rstrip("kMGTi")
    return float(number) * _BYTES[text[len(number) :]] / 10**9

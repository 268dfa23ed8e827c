"""A cluster: the addresses of its tasks, and which of them this process is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One process of a cluster."""

    type: str
    index: int
    address: str

    def __str__(self) -> str:
        return f"{self.type} {self.index} ({self.address})"

    @property
    def host_and_port(self) -> tuple[str, int]:
        """The address in two parts; an IPv6 host without its brackets."""
        host, _, port = self.address.rpartition(":")
        return host.strip("[]"), int(port)


@dataclass(frozen=True)
class Cluster:
    """Addresses of all tasks, by type, and the place of this process among them.

    Two forms exist. Workers alone train in step, and worker 0 is the chief. With
    parameter servers (``ps``) one ``chief`` hands steps to the workers.
    """

    addresses: Mapping[str, tuple[str, ...]]
    task_type: str
    task_index: int
    source: str = "TF_CONFIG"

    def __str__(self) -> str:
        counts = ", ".join(
            f"{len(addresses)} {kind}" for kind, addresses in self.addresses.items()
        )
        return f"{counts} (from {self.source}); this is {self.task}"

    @property
    def task(self) -> Task:
        """This process."""
        address = self.addresses[self.task_type][self.task_index]
        return Task(self.task_type, self.task_index, address)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All processes."""
        return tuple(
            Task(kind, index, address)
            for kind, addresses in self.addresses.items()
            for index, address in enumerate(addresses)
        )

    @property
    def peers(self) -> tuple[Task, ...]:
        """All processes but this one."""
        return tuple(task for task in self.tasks if task != self.task)

    @property
    def chief(self) -> Task:
        """The process that writes the outputs."""
        kind = "chief" if "chief" in self.addresses else "worker"
        return Task(kind, 0, self.addresses[kind][0])

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the outputs."""
        return self.task == self.chief

    @property
    def has_parameter_servers(self) -> bool:
        """Whether variables live on tasks of their own."""
        return "ps" in self.addresses

    @property
    def is_server(self) -> bool:
        """Whether this process only does what the chief of parameter servers says."""
        return self.has_parameter_servers and not self.is_chief

    @property
    def worker_count(self) -> int:
        """How many tasks compute gradients."""
        return len(self.addresses["worker"])

    def to_tf_config(self) -> str:
        """The text that TensorFlow reads from the environment variable TF_CONFIG."""
        return json.dumps(
            {
                "cluster": {kind: list(a) for kind, a in self.addresses.items()},
                "task": {"type": self.task_type, "index": self.task_index},
            }
        )

"""Which tasks of a cluster answer: a TCP connection, nothing more."""

import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from components.cluster.tasks import Task

# A host that is there answers or refuses at once; one that is gone says nothing.
_TIMEOUT_SECONDS = 2.0


def answers(task: Task) -> bool:
    """Whether something listens at the task's address."""
    try:
        with socket.create_connection(task.host_and_port, timeout=_TIMEOUT_SECONDS):
            return True
    except OSError:
        # Also a name that the DNS does not know, or does not know yet.
        return False


def silent(tasks: Iterable[Task]) -> list[Task]:
    """Tasks at whose address nothing listens, in their order."""
    tasks = list(tasks)
    if not tasks:
        return []
    with ThreadPoolExecutor(min(len(tasks), 32)) as pool:
        found = list(pool.map(answers, tasks))
    return [task for task, answered in zip(tasks, found, strict=True) if not answered]


def named(tasks: Iterable[Task]) -> str:
    """Tasks in one line."""
    return ", ".join(map(str, tasks))

"""Waits until every task of the cluster is there, and names those that are not.

TensorFlow waits for the others in C++, where it holds Python's lock and also SIGTERM does
not reach it. So no thread could watch it; the tasks meet before it starts.
"""

import contextlib
import signal
import socket
import time
from collections.abc import Iterator

from components.cluster.probe import named, silent
from components.cluster.tasks import Cluster, Task
from data.errors import RunError

TIMEOUT_SECONDS = 300.0
# The others have nothing left to do but to end.
PARTING_SECONDS = 10.0
_PAUSE_SECONDS = 0.2


def wait_for(tasks: tuple[Task, ...], timeout: float) -> None:
    """Waits until all tasks have answered once.

    Args:
        tasks: whom to wait for.
        timeout: seconds after which the wait ends.

    Raises:
        RunError: some never answered; they are named.
    """
    end = time.monotonic() + timeout
    missing = list(tasks)
    while missing := silent(missing):
        if time.monotonic() > end:
            raise RunError(
                f"cluster: no answer within {timeout:.0f} s from {named(missing)}; "
                "start them, correct their addresses, or raise train.cluster_timeout"
            )
        time.sleep(_PAUSE_SECONDS)


def meet(cluster: Cluster, timeout: float = TIMEOUT_SECONDS) -> None:
    """Listens at the own address until all others have answered.

    A task that has met all others goes on to TensorFlow, which listens at the same
    address: one that is still waiting gets its answer there.

    Args:
        cluster: the cluster of this process.
        timeout: seconds after which the wait ends.

    Raises:
        RunError: some task never answered, or the own port is taken.
    """
    with _listen(cluster.task):
        wait_for(cluster.peers, timeout)


def part(cluster: Cluster, timeout: float = PARTING_SECONDS) -> None:
    """Lets the chief be the last to go: it stays while any other task answers.

    Args:
        cluster: the cluster of this process.
        timeout: seconds after which the chief goes all the same.
    """
    end = time.monotonic() + timeout
    while cluster.is_chief and time.monotonic() < end:
        if len(silent(cluster.peers)) == len(cluster.peers):
            return
        time.sleep(_PAUSE_SECONDS)


@contextlib.contextmanager
def deadline(timeout: float) -> Iterator[None]:
    """Ends the process by SIGALRM if the block takes longer.

    The signal's default action needs no Python, so it also ends a wait in C++: that for
    a task that was lost between meeting and connecting.

    Args:
        timeout: seconds.
    """
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _listen(task: Task) -> socket.socket:
    """A socket at the task's port; connections to it succeed without being taken."""
    dual = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if dual else socket.AF_INET
    try:
        return socket.create_server(
            ("", task.host_and_port[1]),
            family=family,
            backlog=1024,
            dualstack_ipv6=dual,
        )
    except OSError as error:
        raise RunError(
            f"cluster: {task} cannot listen at its port: {error.strerror}; end the "
            "process that has it, or give this task another port"
        ) from None

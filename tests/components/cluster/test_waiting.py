"""Tasks that wait for each other: who is missing is named."""

import signal
import socket
import subprocess
import sys
import threading

import pytest

from components.cluster.tasks import Cluster
from components.cluster.waiting import deadline, meet, part, wait_for
from data.errors import RunError


@pytest.fixture
def ports():
    """Three ports of the loopback that nothing listens at."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    found = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return found


def workers(ports, index):
    return Cluster(
        {"worker": tuple(f"127.0.0.1:{port}" for port in ports)}, "worker", index
    )


def test_tasks_that_are_all_there_meet(ports):
    def start(index):
        meet(workers(ports, index), 30.0)
        # TensorFlow listens at the same address: for who is still waiting.
        servers.append(socket.create_server(("127.0.0.1", ports[index])))

    servers = []
    threads = [threading.Thread(target=start, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    for server in servers:
        server.close()

    assert len(servers) == 3


def test_those_that_never_answer_are_named(ports):
    with (
        socket.create_server(("127.0.0.1", ports[1])),
        pytest.raises(RunError) as caught,
    ):
        meet(workers(ports, 0), 0.3)

    text = str(caught.value)
    assert f"no answer within 0 s from worker 2 (127.0.0.1:{ports[2]});" in text
    assert "worker 1" not in text
    assert caught.value.exit_code == 1


def test_a_name_that_the_dns_does_not_know_is_a_missing_task():
    cluster = Cluster({"worker": ("no-such-host.invalid:1",)}, "worker", 0)

    with pytest.raises(RunError, match="no-such-host"):
        wait_for((cluster.task,), 0.0)


def test_a_port_that_is_taken_is_named(ports):
    with (
        socket.create_server(("", ports[0])),
        pytest.raises(RunError, match=rf"worker 0 \(127.0.0.1:{ports[0]}\) cannot lis"),
    ):
        meet(workers(ports, 0), 5.0)


def test_a_worker_alone_waits_for_nobody(ports):
    meet(workers(ports[:1], 0), 0.0)


def test_the_deadline_ends_a_process_that_runs_no_python():
    # Python's own handlers never run while its lock is held, here by a regex.
    code = (
        "import re\n"
        "from components.cluster.waiting import deadline\n"
        "with deadline(0.2): re.match('(a+)+$', 'a' * 60 + 'b')"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)

    assert done.returncode == -signal.SIGALRM


def test_a_deadline_that_is_kept_is_cleared():
    with deadline(30.0):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0

    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_the_chief_stays_until_the_others_are_gone(ports):
    other = socket.create_server(("127.0.0.1", ports[1]))
    thread = threading.Thread(target=part, args=(workers(ports[:2], 0), 60.0))
    thread.start()
    thread.join(0.5)
    stayed = thread.is_alive()
    other.close()
    thread.join(30.0)

    assert stayed
    assert not thread.is_alive()


def test_the_others_do_not_stay(ports):
    with socket.create_server(("127.0.0.1", ports[0])):
        part(workers(ports[:2], 1), 600.0)

"""TF_CONFIG: good ones are read, each fault is one line with place and remedy."""

import json

import pytest

from components.cluster.tf_config import parse_tf_config
from data.errors import ConfigError

WORKERS = {"worker": ["a:1", "b:2"]}
SERVERS = {"chief": ["c:1"], "ps": ["p:1"], "worker": ["a:1", "b:1"]}
TASK = {"type": "worker", "index": 0}


def text(cluster=WORKERS, task=TASK, **others):
    return json.dumps({"cluster": cluster, "task": task, **others})


def error(content):
    with pytest.raises(ConfigError) as caught:
        parse_tf_config(content)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("TF_CONFIG: ")
    assert caught.value.exit_code == 2
    return line


def test_workers_alone_have_worker_0_as_chief():
    one = parse_tf_config(text(task={"type": "worker", "index": 1}))

    assert one.addresses == {"worker": ("a:1", "b:2")}
    assert (one.task_type, one.task_index, one.is_chief) == ("worker", 1, False)
    assert parse_tf_config(text()).is_chief
    assert str(one.task) == "worker 1 (b:2)"
    assert [str(peer) for peer in one.peers] == ["worker 0 (a:1)"]
    assert not one.is_server


def test_with_parameter_servers_all_but_the_chief_serve():
    roles = {
        kind: parse_tf_config(text(SERVERS, {"type": kind, "index": 0}))
        for kind in SERVERS
    }

    assert [kind for kind, one in roles.items() if one.is_chief] == ["chief"]
    assert [kind for kind, one in roles.items() if one.is_server] == ["ps", "worker"]
    assert roles["chief"].worker_count == 2


def test_the_text_that_is_written_is_read_back():
    one = parse_tf_config(text(SERVERS, {"type": "ps", "index": 0}))

    assert parse_tf_config(one.to_tf_config()) == one


@pytest.mark.parametrize("address", ["h-1.x_y.svc:65535", "10.0.0.1:1", "[fe80::1]:22"])
def test_hosts_are_names_and_numbers_of_both_kinds(address):
    assert parse_tf_config(text({"worker": [address]})).task.address == address


def test_notes_of_kubeflow_and_vertex_are_let_through():
    task = {**TASK, "trial": "1", "cloud": "x"}

    assert (
        parse_tf_config(
            text(task=task, environment="cloud", job="{}", rpc_layer="grpc")
        ).task_index
        == 0
    )


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("{'cluster': {}}", ["not JSON", "line 1 column 2", "double quotes"]),
        ("[" * 100_000, ["not JSON"]),
        ("[]", ["must be an object, got []"]),
        ('{"task": {}, "task": {}}', ["'task' is given twice"]),
        (json.dumps({"cluster": WORKERS}), ["'task' is absent", "unset TF_CONFIG"]),
        (json.dumps({"task": TASK}), ["'cluster' is absent"]),
        (text(clutser={}), ["'clutser'", "Did you mean 'cluster'?"]),
        (text(rpc_layer="rdma"), ["rpc_layer: must be grpc", '"rdma"']),
        (text([]), ["cluster: must be an object, got []"]),
        (text({}), ["cluster: names no task"]),
    ],
)
def test_a_faulty_form_is_refused(content, parts):
    line = error(content)
    assert all(part in line for part in parts), line


@pytest.mark.parametrize(
    ("cluster", "parts"),
    [
        ({"wroker": ["a:1"]}, ["cluster: ", "'wroker'", "Did you mean 'worker'?"]),
        ({"master": ["a:1"], "ps": ["b:1"]}, ["cluster.master", "name it chief"]),
        ({**WORKERS, "evaluator": ["e:1"]}, ["cluster.evaluator", "leave it out"]),
        ({"chief": ["c:1"], **WORKERS}, ["cluster.chief", "first worker", "'c:1'"]),
        ({"chief": ["c:1"]}, ["cluster.worker: is absent"]),
        ({"ps": ["p:1"], **WORKERS}, ["cluster.chief: is absent", "add one"]),
        ({"chief": ["c:1"], "ps": ["p:1"]}, ["cluster.worker: is absent"]),
        ({**SERVERS, "chief": ["c:1", "d:1"]}, ["names 2 addresses; keep one"]),
        ({"worker": "a:1"}, ["cluster.worker: must be a list", '"a:1"']),
        ({"worker": []}, ["cluster.worker: must be a list", "got []"]),
        ({"worker": {"0": "a:1"}}, ["cluster.worker: must be a list"]),
        ({"worker": ["a:1", 2]}, ["cluster.worker: must be a list", "2]"]),
        ({"worker": ["a:1", None]}, ["cluster.worker: must be a list", "null"]),
    ],
)
def test_a_faulty_list_of_tasks_is_refused(cluster, parts):
    line = error(text(cluster))
    assert all(part in line for part in parts), line


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("", "has no port"),
        ("host", "has no port"),
        (":2222", "has no host"),
        ("host:", "not a host and a port"),
        ("host:http", "not a host and a port"),
        ("a:b:1", "not a host and a port"),
        ("::1:2222", "not a host and a port"),
        ("host/x:1", "not a host and a port"),
        ("host:123456", "not a host and a port"),
        ("host:0", "outside of 1 to 65535"),
        ("host:65536", "outside of 1 to 65535"),
        ("grpc://host:1", "has a scheme"),
        ("host :1", "has blanks"),
        ("host:1\n", "has blanks"),
        ("0.0.0.0:1", "no place that others can reach"),
    ],
)
def test_a_faulty_address_is_refused(address, part):
    line = error(text({"worker": ["a:1", address]}))
    assert f"cluster.worker[1]: {address!r} " in line
    assert part in line
    assert "write host:port" in line


@pytest.mark.parametrize(
    ("cluster", "where", "first"),
    [
        ({"worker": ["a:1", "a:1"]}, "cluster.worker[1]", "cluster.worker[0]"),
        ({**SERVERS, "ps": ["A:01"]}, "cluster.worker[0]", "cluster.ps[0]"),
        ({"worker": ["localhost:1", "127.0.0.1:1"]}, "worker[1]", "worker[0]"),
    ],
)
def test_two_tasks_at_one_address_are_refused(cluster, where, first):
    line = error(text(cluster))
    assert where in line
    assert f"is also {first}" in line or f"is also cluster.{first}" in line


def test_a_loopback_address_among_other_hosts_is_refused():
    line = error(text({"worker": ["127.0.0.1:1", "b:2"]}))
    assert "cluster.worker[0]: '127.0.0.1:1' is reached from its own machine" in line


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("worker", ["task: must be an object"]),
        ({"index": 0}, ["task: key 'type' is absent"]),
        ({"type": "worker"}, ["task: key 'index' is absent"]),
        ({**TASK, "id": 0}, ["unknown key 'id'"]),
        ({"type": "wroker", "index": 0}, ['"wroker"', "Did you mean 'worker'?"]),
        ({"type": "chief", "index": 0}, ['"chief" is not in cluster']),
        ({"type": "evaluator", "index": 0}, ["the chief evaluates"]),
        ({"type": None, "index": 0}, ["null is not in cluster"]),
        ({"type": ["worker"], "index": 0}, ['["worker"] is not in cluster']),
        ({"type": "worker", "index": "0"}, ["without quotes", '"0"']),
        ({"type": "worker", "index": True}, ["whole number", "true"]),
        ({"type": "worker", "index": 0.0}, ["whole number", "0.0"]),
        ({"type": "worker", "index": None}, ["whole number", "null"]),
        ({"type": "worker", "index": -1}, ["from 0 to 1", "got -1"]),
        ({"type": "worker", "index": 2}, ["from 0 to 1", "has 2", "got 2"]),
    ],
)
def test_a_faulty_task_is_refused(task, parts):
    line = error(text(task=task))
    assert all(part in line for part in parts), line


def test_of_the_shared_cases_one_is_right(shared_dir):
    folder = shared_dir / "cases" / "33_tf_config"
    if not folder.is_dir():
        pytest.skip(f"no cases of TF_CONFIG: {folder} is absent")
    for path in sorted(folder.glob("*.json")):
        content = path.read_text("utf-8")
        if path.stem.startswith("ok_"):
            assert parse_tf_config(content).is_chief
        else:
            error(content)

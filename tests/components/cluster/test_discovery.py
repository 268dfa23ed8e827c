"""Clusters found in environment variables."""

import pytest

from components.cluster.discovery import find_cluster
from components.cluster.host_list import expand_hosts, expand_tasks
from data.errors import ConfigError

SLURM = {
    "SLURM_STEP_NODELIST": "node[9-10]",
    "SLURM_STEP_TASKS_PER_NODE": "2,1",
    "SLURM_PROCID": "2",
    "SLURM_NODEID": "1",
    "SLURM_LOCALID": "0",
}
TRAIN_JOB = {
    "PET_NNODES": "3",
    "PET_NODE_RANK": "1",
    "PET_MASTER_ADDR": "ads-node-0-0.ads",
    "PET_MASTER_PORT": "29500",
    "JOB_COMPLETION_INDEX": "1",
}
INDEXED_JOB = {
    "JOB_COMPLETION_INDEX": "0",
    "CTR_WORKERS": "2",
    "CTR_WORKER_HOST": "ads-{index}.svc",
}
TF_CONFIG = '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}'


def error(environ):
    with pytest.raises(ConfigError) as caught:
        find_cluster(environ)
    (line,) = str(caught.value).splitlines()
    return line


def test_a_process_on_its_own_has_no_cluster():
    assert find_cluster({}) is None
    assert find_cluster({"TF_CONFIG": " "}) is None
    # An Indexed Job of independent trainings, and the one process of a step.
    assert find_cluster({"JOB_COMPLETION_INDEX": "3"}) is None
    assert (
        find_cluster(
            {**SLURM, "SLURM_STEP_NODELIST": "n1", "SLURM_STEP_TASKS_PER_NODE": "1"}
        )
        is None
    )
    # A batch script of Slurm outside of srun.
    assert find_cluster({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}) is None
    assert find_cluster({**TRAIN_JOB, "PET_NNODES": "1"}) is None


def test_tf_config_goes_before_the_others():
    environ = {**SLURM, **TRAIN_JOB, **INDEXED_JOB}

    assert find_cluster({**environ, "TF_CONFIG": TF_CONFIG}).source == "TF_CONFIG"
    assert find_cluster(environ).source == "Kubeflow Trainer"
    assert find_cluster({**SLURM, **INDEXED_JOB}).source == "Kubernetes"
    assert find_cluster(SLURM).source == "Slurm"


def test_slurm_numbers_processes_node_by_node_in_the_order_of_its_list():
    cluster = find_cluster(SLURM)

    assert cluster.addresses["worker"] == ("node9:2222", "node9:2223", "node10:2222")
    assert str(cluster.task) == "worker 2 (node10:2222)"


def test_slurm_ranks_that_do_not_go_node_by_node_are_refused():
    # Cyclic: rank 1 is the first process of the second node.
    line = error({**SLURM, "SLURM_PROCID": "1"})

    assert "rank 1 is process 0 of node 1" in line
    assert "--distribution=block" in line


def test_a_train_job_names_its_nodes_like_node_0():
    cluster = find_cluster(TRAIN_JOB)

    assert cluster.addresses["worker"] == tuple(
        f"ads-node-0-{index}.ads:2222" for index in range(3)
    )
    assert cluster.task_index == 1


def test_an_indexed_job_tells_its_pods_number_and_name():
    cluster = find_cluster({**INDEXED_JOB, "CTR_PORT": "3000"})

    assert cluster.addresses["worker"] == ("ads-0.svc:3000", "ads-1.svc:3000")
    assert cluster.is_chief


def test_with_parameter_servers_ranks_become_chief_servers_and_workers():
    environ = {**INDEXED_JOB, "CTR_WORKERS": "5", "CTR_PARAMETER_SERVERS": "2"}
    clusters = [
        find_cluster({**environ, "JOB_COMPLETION_INDEX": str(rank)})
        for rank in range(5)
    ]

    assert [str(one.task) for one in clusters] == [
        "chief 0 (ads-0.svc:2222)",
        "ps 0 (ads-1.svc:2222)",
        "ps 1 (ads-2.svc:2222)",
        "worker 0 (ads-3.svc:2222)",
        "worker 1 (ads-4.svc:2222)",
    ]
    assert len({one.addresses["worker"] for one in clusters}) == 1


@pytest.mark.parametrize(
    ("environ", "part"),
    [
        ({**SLURM, "SLURM_STEP_TASKS_PER_NODE": "2"}, "names 2"),
        ({**SLURM, "SLURM_STEP_TASKS_PER_NODE": "x"}, "tasks per node"),
        ({**SLURM, "SLURM_STEP_NODELIST": "n[1-"}, "must be hosts"),
        ({**SLURM, "SLURM_PROCID": "3"}, "rank 3 of 3 processes"),
        ({**SLURM, "SLURM_PROCID": "-1"}, "SLURM_PROCID: must be a whole number"),
        ({**SLURM, "CTR_PORT": "65535"}, "outside of 1 to 65535"),
        ({**TRAIN_JOB, "PET_NNODES": "1:4"}, "PET_NNODES: must be a whole number"),
        ({**TRAIN_JOB, "PET_MASTER_ADDR": "10.0.0.1"}, "PET_MASTER_ADDR"),
        ({**INDEXED_JOB, "CTR_WORKER_HOST": "ads"}, "must hold {index} once"),
        ({**INDEXED_JOB, "CTR_WORKERS": "0"}, "CTR_WORKERS: must be"),
        ({**INDEXED_JOB, "CTR_PARAMETER_SERVERS": "1"}, "leave no worker of 2"),
        ({"CTR_WORKERS": "2", "CTR_WORKER_HOST": "a-{index}"}, "JOB_COMPLETION_INDEX"),
    ],
)
def test_faulty_variables_are_refused(environ, part):
    assert part in error(environ)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", ["n1"]),
        ("n1,n2", ["n1", "n2"]),
        ("node[01-03,07],gpu5", ["node01", "node02", "node03", "node07", "gpu5"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("n[098-101]", ["n098", "n099", "n100", "n101"]),
        ("r[1-2]n[1,3]-ib", ["r1n1-ib", "r1n3-ib", "r2n1-ib", "r2n3-ib"]),
    ],
)
def test_lists_of_hosts_are_expanded(text, hosts):
    assert expand_hosts(text, "X") == hosts


@pytest.mark.parametrize(
    "text", ["", ",", "n1,", "n[1", "n1]", "n[]", "n[3-1]", "n[a]"]
)
def test_what_is_no_list_of_hosts_is_refused(text):
    with pytest.raises(ConfigError, match="X: must be hosts"):
        expand_hosts(text, "X")


def test_tasks_per_node_are_expanded():
    assert expand_tasks("2(x3),1", "X") == [2, 2, 2, 1]

"""The trial cluster, as far as it goes without Docker: its commands and what it prints."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.dockerfile import ROOT

SCRIPT = ROOT / "scripts/trial-cluster"
MANIFESTS = "github.com/kubeflow/pipelines/manifests/kustomize"


def call(*arguments, **environment):
    steering = ("TOOL", "CLUSTER", "IMAGE", "KFP_VERSION")
    variables = {key: os.environ[key] for key in os.environ if key not in steering}
    return subprocess.run(
        ["/bin/bash", SCRIPT, *arguments],
        env=variables | {key: str(value) for key, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
    )


def commands(*arguments, **environment):
    """The commands of a dry run, in their order."""
    done = call(*arguments, "--dry-run", **environment)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    return [line.removeprefix("+ ") for line in lines if line.startswith("+ ")]


def test_up_makes_the_cluster_loads_the_image_and_installs_what_is_pinned():
    kubectl = "kubectl --context kind-ctr-trial --namespace kubeflow"
    *steps, first, second = commands("up")
    assert steps == [
        "kind create cluster --name ctr-trial --wait 300s",
        "kind load docker-image tfx-ctr:0.1.0 --name ctr-trial",
        f"{kubectl} apply -k {MANIFESTS}/cluster-scoped-resources?ref=2.16.1",
        f"{kubectl} wait crd/applications.app.k8s.io --for=condition=established"
        " --timeout=60s",
        f"{kubectl} apply -k {MANIFESTS}/env/platform-agnostic?ref=2.16.1",
        f"{kubectl} wait deployment --all --for=condition=Available --timeout=1200s",
    ]
    # Both run at once, so either may be printed first.
    assert {first, second} == {
        f"{kubectl} port-forward service/ml-pipeline-ui 8080:80",
        f"{kubectl} port-forward service/minio-service 9000:9000",
    }


def test_the_environment_steers_tool_name_image_and_version():
    steps = commands(
        "up", TOOL="k3d", CLUSTER="mine", IMAGE="a:1", KFP_VERSION="2.15.0"
    )
    assert steps[:2] == [
        "k3d cluster create mine --wait --timeout 300s",
        "k3d image import a:1 --cluster mine",
    ]
    assert all("--context k3d-mine " in step for step in steps[2:])
    assert sum("?ref=2.15.0" in step for step in steps) == 2


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("kind", "kind delete cluster --name ctr-trial"),
        ("k3d", "k3d cluster delete ctr-trial"),
    ],
)
def test_down_deletes_that_cluster_and_no_other(tool, command):
    assert commands("down", TOOL=tool) == [command]


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["pu"], {}, ["up, forward, status or down", "'pu'"]),
        ([], {}, ["up, forward, status or down"]),
        (["up"], {"TOOL": "minikube"}, ["kind or k3d", "'minikube'"]),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments, environment, words):
    done = call(*arguments, **environment)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in words)


def test_all_missing_tools_are_named_in_one_line(tmp_path):
    (tmp_path / "git").symlink_to("/bin/true")
    done = call("up", PATH=tmp_path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "not on PATH: docker kubectl kind." in line


def test_an_absent_daemon_is_named(tmp_path):
    for tool, outcome in {"docker": "false", "kubectl": "true", "kind": "true"}.items():
        (tmp_path / tool).symlink_to(f"/bin/{outcome}")
    done = call("status", PATH=tmp_path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "no Docker daemon answers" in line


@pytest.mark.engine
def test_what_it_prints_compiles_the_demo_with_the_secret_of_the_store(tmp_path):
    text = call("up", "--dry-run").stdout
    block = text[text.index("cat pipeline") : text.index("--endpoint")]
    # There is no server here: what is submitted is compiled instead.
    block = block.replace(
        "ctr submit", "ctr compile --target kubeflow --output trial.kubeflow.yaml"
    ).rstrip(" \\\n")
    block = block.replace("pipeline/presets", f"{ROOT}/pipeline/presets")
    block = block.replace(".venv/bin/ctr", f"{sys.executable} -m pipeline.cli.main")
    done = subprocess.run(
        ["/bin/bash", "-ec", block],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    spec = (tmp_path / "trial.kubeflow.yaml").read_text()
    assert "image: tfx-ctr:0.1.0" in spec
    assert "secretName: mlpipeline-minio-artifact" in spec


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck here")
def test_shellcheck_finds_nothing():
    done = subprocess.run(["shellcheck", SCRIPT], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")

"""The image: rules of its Dockerfile, and its build replayed in plain folders.

Replayed: each COPY, the virtual environment, the project's installation, and the check
of imports. Only judged by rule: apt-get, useradd, and fetching uv and the packages, for
which those of this environment stand in.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
from docker.utils import exclude_paths
from packaging.requirements import Requirement

from data.simulator.config import SimulatorConfig
from data.simulator.writing import write_log
from pipeline.config import load
from tests import dockerfile
from tests.conftest import small_demo
from tests.pipeline.kubeflow.interpreter import Interpreter

ROOT = dockerfile.ROOT
INSTRUCTIONS = dockerfile.read(ROOT / "Dockerfile")
STAGES = dockerfile.stages(INSTRUCTIONS)
FINAL = STAGES[-1]
VERSION = "{}.{}".format(*sys.version_info[:2])
STACK = "older" if VERSION == "3.10" else "newer"


def texts(name, instructions=INSTRUCTIONS):
    return [one.text for one in instructions if one.name == name]


def steps(instructions):
    """The words of each RUN step."""
    return [re.split(r"[\s;&|\"$()]+", text) for text in texts("RUN", instructions)]


# Rules.


def test_the_image_runs_as_a_user_by_number_who_is_not_root():
    (user,) = texts("USER")
    assert user.isdecimal()
    assert int(user) >= 10_000
    assert f"useradd --uid {user} " in " ".join(texts("RUN", FINAL))
    names = [one.name for one in FINAL]
    assert "COPY" not in names[names.index("USER") :]


def test_the_compiler_and_the_installers_stay_in_the_builder():
    assert any("g++" in words for words in steps(STAGES[0]))
    for words in steps(FINAL):
        assert not {"apt-get", "g++", "gcc", "pip", "uv"} & set(words)
    copied = [one for one in FINAL if one.name == "COPY" and one.flags]
    assert [one.text for one in copied] == [
        "/opt/venv/ /opt/venv/",
        "/opt/project/ /opt/venv/",
    ]


def test_bases_are_official_images_of_a_named_release():
    defaults = dict(text.split("=") for text in texts("ARG")[:2])
    stages = {text.partition(" AS ")[2] for text in texts("FROM")}
    bases = {text.partition(" AS ")[0] for text in texts("FROM")} - stages
    assert bases == {"python:${PYTHON}-slim-${DEBIAN}"}
    assert defaults == {"PYTHON": "3.13", "DEBIAN": "trixie"}


def test_no_step_names_an_address_or_holds_a_secret():
    text = (ROOT / "Dockerfile").read_text()
    assert "://" not in text
    assert "latest" not in text
    assert texts("ADD") == []
    for name in (*texts("ARG"), *texts("ENV")):
        assert not re.search("password|secret|token|key", name, re.IGNORECASE)


def test_nothing_stands_between_kubeflow_and_the_command():
    assert {"ENTRYPOINT", "HEALTHCHECK"} & {one.name for one in INSTRUCTIONS} == set()
    assert "PYTHONDONTWRITEBYTECODE" not in " ".join(texts("ENV"))


def test_every_lock_that_the_build_can_name_is_there():
    (step,) = (text for text in texts("RUN") if "--constraints" in text)
    (name,) = re.findall(r"--constraints (\S+)", step)
    assert "STACK=newer" in texts("ARG")
    for stack, python in [
        ("older", "3.10"),
        *(("newer", f"3.1{n}") for n in (1, 2, 3)),
    ]:
        shell = subprocess.run(
            ["sh", "-c", f"echo {name}"],
            env={"STACK": stack, "PYTHON": python},
            capture_output=True,
            text=True,
            check=True,
        )
        lock = f"locks/{stack}-py{python.replace('.', '')}-gpu.txt"
        assert shell.stdout.strip() == lock
        assert (ROOT / lock).is_file()
    for path in re.findall(r"locks/[a-z]+\.(?:txt|in)", step):
        assert (ROOT / path).is_file()


def test_an_unknown_accelerator_is_refused_in_one_line():
    (step,) = (text for text in texts("RUN") if "--constraints" in text)
    done = subprocess.run(
        ["sh", "-c", step], env={"ACCELERATOR": "tpu"}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "ACCELERATOR must be cpu or gpu, got 'tpu'.\n"


def test_every_copied_file_is_sent_to_the_builder():
    sent = dockerfile.context()
    for one in INSTRUCTIONS:
        if one.name == "COPY" and not one.flags:
            for source in one.text.split()[:-1]:
                assert dockerfile.inside(source, sent), source


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".git/config",
        ".venv/bin/python",
        "id_rsa",
        "runs/demo/metadata.db",
        "scripts/setup",
        "tests/test_image.py",
        "pipeline/__pycache__/pipeline.cpython-313.pyc",
        "pipeline/old.pyc",
    ],
)
def test_the_builder_is_not_sent(path, tmp_path):
    for name in (path, "pipeline/pipeline.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    sent = exclude_paths(str(tmp_path), dockerfile.ignore_patterns())
    assert path not in sent
    assert "pipeline/pipeline.py" in sent


def run_time_packages():
    """Names of what setup.py asks for, directly and through others."""
    found, left = set(), [Requirement("tfx-ctr")]
    while left:
        requirement = left.pop()
        asked = (requirement.name.lower(), frozenset(requirement.extras))
        if asked in found:
            continue
        found.add(asked)
        for line in metadata.requires(requirement.name) or []:
            needed = Requirement(line)
            extras = requirement.extras or {""}
            if not needed.marker or any(
                needed.marker.evaluate({"extra": extra}) for extra in extras
            ):
                left.append(needed)
    return {name for name, _ in found} - {"tfx-ctr"}


def test_the_lock_pins_every_package_of_the_image():
    lock = ROOT / f"locks/{STACK}-py{VERSION.replace('.', '')}.txt"
    pinned = set(re.findall(r"^([^#\s=]+)==", lock.read_text(), re.MULTILINE))
    names = {re.sub(r"[-_.]+", "-", name) for name in run_time_packages()}
    assert names <= pinned
    assert "pytest" not in names


# The replayed build.


def link_uv(stage):
    """Stands in for fetching the installer."""
    uv = shutil.which("uv", path=f"{ROOT}/.venv/uv/bin:{Path(sys.prefix)}/uv/bin")
    uv = uv or shutil.which("uv")
    if uv is None:
        pytest.skip("no uv to install the project with")
    (stage.root / "usr/local/bin/uv").symlink_to(uv)
    stage.environment |= {"UV_OFFLINE": "1", "UV_CACHE_DIR": f"{stage.root}/tmp/uv"}


def link_packages(stage):
    """Stands in for installing the packages: links those that the image would hold."""
    (target,) = (stage.root / "opt/venv/lib").glob("python*/site-packages")
    source = Path(sysconfig.get_path("purelib"))
    for name in run_time_packages():
        files = metadata.distribution(name).files or []
        for entry in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            if not (target / entry).exists():
                (target / entry).symlink_to(source / entry)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The final stage of the build."""
    return dockerfile.build(
        tmp_path_factory.mktemp("image"),
        {"PYTHON": VERSION, "STACK": STACK},
        {
            "apt-get": lambda stage: None,
            "useradd": lambda stage: (stage.root / "home/ctr").mkdir(parents=True),
            "python -m pip install": link_uv,
            "case": link_packages,
        },
    )


@pytest.mark.engine
@pytest.mark.slow
def test_the_build_ends_with_every_name_of_a_pod_imported(image):
    (printed,) = image.output
    assert printed.startswith(f"{STACK} stack, Python {VERSION}")
    assert f"tfx-ctr {metadata.version('tfx-ctr')}" in printed
    assert re.search(r"^\d\d names imported$", printed, re.MULTILINE)


@pytest.mark.engine
@pytest.mark.slow
def test_the_project_is_the_one_in_the_image_from_any_folder(image, tmp_path):
    code = "import pipeline, sys; print(pipeline.__file__, sys.prefix)"
    file, prefix = image.run(f"python -c '{code}'", tmp_path).split()
    assert prefix == str(image.root / "opt/venv")
    assert Path(file).is_relative_to(prefix)
    usage = image.run("python -m pipeline.kubeflow.entrypoint --help", tmp_path)
    assert "--executor_class_path" in usage


@pytest.mark.engine
@pytest.mark.slow
def test_the_image_holds_every_file_of_the_packages_compiled(image):
    (site,) = (image.root / "opt/venv/lib").glob("python*/site-packages")
    packages = ("components", "data", "models", "pipeline")
    wanted = [p for p in dockerfile.context() if p.split("/")[0] in packages]
    assert [path for path in wanted if not (site / path).is_file()] == []
    for path in map(Path, wanted):
        if path.suffix == ".py":
            compiled = path.parent / "__pycache__" / f"{path.stem}.cpython-*.pyc"
            assert list(site.glob(str(compiled))), path


class InImage(Interpreter):
    """Starts each container's command in the image."""

    def __init__(self, document, folder, image):
        super().__init__(document, folder)
        self.image, self.folder = image, folder

    def _execute(self, name, task, executor_input):
        container = self._document.container_of(task)
        text = json.dumps(executor_input)
        parts = [*container["command"], *container["args"]]
        words = [part.replace("{{$}}", text) for part in parts]
        self.image.run(shlex.join(words), self.folder)


@pytest.mark.engine
@pytest.mark.slow
def test_a_component_runs_in_the_image(image, tmp_path):
    from pipeline.kubeflow.compile import compile_kubeflow
    from pipeline.kubeflow.request import Request

    log, root = tmp_path / "log", tmp_path / "root"
    write_log(SimulatorConfig(rows=2_000, users=100, days=4), log, "parquet")
    document = compile_kubeflow(
        load(config=small_demo(tmp_path)),
        Request(
            image="image",
            pipeline_root=str(root),
            input_base=str(log),
            serving=str(root / "serving"),
            blessed_model=str(root / "latest.json"),
        ),
    )
    dag = document.pipeline["root"]["dag"]
    dag["tasks"] = {"ClickLogExampleGen": dag["tasks"]["ClickLogExampleGen"]}
    done = InImage(document, tmp_path, image).run({"input_base": str(log)})
    examples = done["ClickLogExampleGen"]["examples"]
    assert "input_fingerprint" in examples["metadata"]
    assert {path.name for path in Path(examples["uri"]).glob("Split-*")} == {
        "Split-train",
        "Split-eval",
    }

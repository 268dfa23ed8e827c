"""Reads a Dockerfile, and replays its build in plain folders, without Docker.

Each stage has a folder in the place of its root. COPY takes what the builder would be
sent; RUN runs in the stage's folders and environment. Steps that need root, a network
or a Debian have a stand-in. Users, permissions and mounts are not replayed.
"""

import os
import re
import shlex
import shutil
import string
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from docker.utils import exclude_paths

ROOT = Path(__file__).resolve().parent.parent
# Folders of the image that the Dockerfile names, as whole first parts of a path.
_FOLDERS = re.compile(r"(?<![\w./])/(?=(app|build|gcs|home|minio|opt|s3|tmp)\b)")
_LINE = re.compile(r"(?P<name>[A-Z]+)\s+(?P<flags>(--\S+\s+)*)(?P<text>.*)")


@dataclass(frozen=True)
class Instruction:
    """One instruction; ``flags`` are those before its text, such as ``--from=x``."""

    name: str
    flags: list[str]
    text: str


def read(path: Path) -> list[Instruction]:
    """The instructions of a Dockerfile, in their order."""
    lines = [
        line
        for line in path.read_text().splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    found = "\n".join(lines).replace("\\\n", " ").splitlines()
    matches = [_LINE.fullmatch(line.strip()) for line in found]
    return [Instruction(m["name"], m["flags"].split(), m["text"]) for m in matches if m]


def stages(instructions: list[Instruction]) -> list[list[Instruction]]:
    """The instructions by stage, each from its FROM on."""
    starts = [i for i, one in enumerate(instructions) if one.name == "FROM"]
    ends = [*starts[1:], len(instructions)]
    return [instructions[a:b] for a, b in zip(starts, ends, strict=True)]


def context() -> list[str]:
    """Files that the builder is sent: those that git knows, less the ignored.

    Outside of a checkout, as in an archive of the sources, git knows none: then all that
    are not ignored.
    """
    sent = {
        path
        for path in exclude_paths(str(ROOT), ignore_patterns())
        if (ROOT / path).is_file()
    }
    listing = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    done = subprocess.run(
        listing, cwd=ROOT, capture_output=True, text=True, check=False
    )
    return sorted(sent & set(done.stdout.split()) if done.returncode == 0 else sent)


def inside(source: str, paths: list[str]) -> list[str]:
    """Those of the paths that are a source of COPY, or lie in it."""
    folder = f"{source.rstrip('/')}/"
    return [path for path in paths if path == source or path.startswith(folder)]


def ignore_patterns() -> list[str]:
    """The patterns of ``.dockerignore``."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@dataclass
class Stage:
    """A stage that is being replayed: its root, environment and working folder."""

    root: Path
    environment: dict[str, str]
    workdir: str = "/"
    output: list[str] = field(default_factory=list)

    def place(self, path: str) -> Path:
        """Where a path of the image lies."""
        return self.root / os.path.join(self.workdir, path).lstrip("/")

    def here(self, text: str) -> str:
        """A text with the folders of the image replaced by those of the stage."""
        return _FOLDERS.sub(f"{self.root}/", text)

    def run(self, command: str, folder: Path | None = None) -> str:
        """Runs a shell command; returns what it prints."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=folder or self.place("."),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr[-3000:]}"
        return done.stdout


def build(
    folder: Path,
    arguments: Mapping[str, str],
    stand_ins: Mapping[str, Callable[[Stage], None]],
) -> Stage:
    """Replays the project's Dockerfile.

    Args:
        folder: where the stages go.
        arguments: build arguments.
        stand_ins: start of a RUN step -> what is done in its place.

    Returns:
        The final stage.
    """
    instructions = read(ROOT / "Dockerfile")
    top = [one.text for one in instructions if one.name == "ARG"][:2]
    known = dict(text.split("=") for text in top) | dict(arguments)
    done: dict[str, Stage] = {}
    for number, (start, *rest) in enumerate(stages(instructions)):
        base, _, name = start.text.partition(" AS ")
        stage = done[name] = _begin(folder / str(number), done.get(base))
        for one in rest:
            _replay(one, stage, done, known, stand_ins)
    return stage


def _begin(root: Path, base: Stage | None) -> Stage:
    """A stage on another one, or on an image that holds Python."""
    if base is not None:
        _copy(base.root, root, base.root, root)
        moved = {
            k: v.replace(str(base.root), str(root)) for k, v in base.environment.items()
        }
        return Stage(root, moved, base.workdir)
    programs = root / "usr/local/bin"
    programs.mkdir(parents=True)
    (root / "tmp").mkdir()
    (programs / "python").symlink_to(
        os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    )
    return Stage(root, {"PATH": f"{programs}:/usr/bin:/bin", "HOME": f"{root}/tmp"})


def _replay(one, stage, done, known, stand_ins) -> None:
    """Replays one instruction; those that leave no files do nothing."""
    if one.name == "ARG":
        name, _, default = one.text.partition("=")
        value = known.get(name, default)
        if value:
            stage.environment[name] = value
    elif one.name == "ENV":
        for part in shlex.split(one.text):
            name, _, value = part.partition("=")
            value = string.Template(stage.here(value)).substitute(stage.environment)
            stage.environment[name] = value
    elif one.name == "WORKDIR":
        stage.workdir = one.text
        stage.place(".").mkdir(parents=True, exist_ok=True)
    elif one.name == "COPY":
        *sources, target = one.text.split()
        origins = [flag.partition("=")[2] for flag in one.flags if "--from=" in flag]
        for source in sources:
            if origins:
                origin = done[origins[0]]
                place = origin.root / source.lstrip("/")
                _copy(place, stage.place(target), origin.root, stage.root)
            else:
                _copy_context(source, target, stage)
    elif one.name == "RUN":
        found = [act for start, act in stand_ins.items() if one.text.startswith(start)]
        if found:
            found[0](stage)
        else:
            stage.output.append(stage.run(stage.here(one.text)))


def _copy_context(source: str, target: str, stage: Stage) -> None:
    """Copies a file, or what a folder holds, as COPY does."""
    files = inside(source, context())
    assert files, f"COPY {source}: the builder is sent no such file"
    for path in files:
        name = os.path.relpath(path, source) if path != source else Path(path).name
        place = stage.place(target) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, place)


def _copy(source: Path, target: Path, old_root: Path, new_root: Path) -> None:
    """Copies a folder between stages; scripts name the root they lie in."""

    def copy(here: str, there: str) -> None:
        shutil.copy2(here, there)
        content = Path(there).read_bytes()
        if content.startswith(b"#!"):
            moved = content.replace(bytes(old_root), bytes(new_root))
            Path(there).write_bytes(moved)

    shutil.copytree(
        source, target, symlinks=True, dirs_exist_ok=True, copy_function=copy
    )

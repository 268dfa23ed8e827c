"""Imports all that pods run by name; the image's build runs this, and fails by name.

The names come from the compiled demo: modules of commands, classes of executors, and
the functions that TFX is given by import path.
"""

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import click

from pipeline.cli.doctor import examine
from pipeline.config import load
from pipeline.kubeflow.compile import compile_kubeflow
from pipeline.kubeflow.document import Document
from pipeline.kubeflow.request import request_of

_NAME = re.compile(r"(data|models|components|pipeline|tfx)(\.\w+)+")


def main() -> None:
    """Prints what the image holds, checks it, and exits with 1 if anything fails."""
    config = load(preset="demo")
    document = compile_kubeflow(config, request_of(config, "kubeflow", image="any:tag"))
    found = examine()
    versions = (f"{name} {version}" for name, version in found["packages"].items())
    click.echo(f"{found['stack']} stack, Python {found['python']}, {found['libc']}")
    click.echo(", ".join(versions))
    names = names_of(document)
    faults = [
        *filter(None, map(import_fault, names)),
        *filter(None, map(command_fault, commands_of(document))),
    ]
    for fault in faults:
        click.echo(fault, err=True)
    if faults:
        sys.exit(1)
    click.echo(f"{len(names)} names imported")


def names_of(document: Document) -> list[str]:
    """The dotted Python names in commands, arguments and parameters of a spec."""
    return sorted({text for text in _texts(document) if _NAME.fullmatch(text)})


def _texts(document: Document) -> Iterator[str]:
    """What containers are started with, and the constants that they are given."""
    for _, container in document.containers():
        yield from (*container["command"], *container["args"])
    for _, task in document.tasks():
        for value in task.get("inputs", {}).get("parameters", {}).values():
            yield str(value.get("runtimeValue", {}).get("constant", ""))


def commands_of(document: Document) -> list[tuple[str, ...]]:
    """The commands that pods start, without their arguments, and the command line."""
    pods = {tuple(container["command"]) for _, container in document.containers()}
    return [("ctr",), *sorted(pods)]


def import_fault(name: str) -> str | None:
    """Imports a module, or the module of a class or function and that.

    Args:
        name: dotted name.

    Returns:
        The fault in one line, or None.
    """
    try:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            # Another name is absent: the module is there, and lacks something itself.
            if error.name != name:
                raise
            module, _, attribute = name.rpartition(".")
            getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever a module raises while it is imported
        return f"{name}: cannot be imported: {type(error).__name__}: {error}"
    return None


def command_fault(command: tuple[str, ...]) -> str | None:
    """Asks a command for its help, from a folder that holds no source.

    Args:
        command: the program, looked up on PATH, and its first arguments.

    Returns:
        The fault in one line, or None.
    """
    text = " ".join(command)
    program = shutil.which(command[0])
    if program is None:
        return f"{text}: no {command[0]} on PATH"
    done = subprocess.run(
        [program, *command[1:], "--help"],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    last = done.stderr.strip().splitlines()[-1:] or ["no message"]
    return f"{text} --help: exit code {done.returncode}: {last[0]}"


if __name__ == "__main__":
    main()

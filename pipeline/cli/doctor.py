"""``ctr doctor``: what this machine can run, and what is missing."""

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from data.errors import RunError

PACKAGES = (
    "tfx-ctr",
    "tfx",
    "tensorflow",
    "keras",
    "tensorflow-transform",
    "tensorflow-model-analysis",
    "apache-beam",
    "ml-metadata",
    "kfp",
    "pyarrow",
    "numpy",
    "protobuf",
)


def examine() -> dict[str, Any]:
    """Looks at the machine without importing TensorFlow.

    Returns:
        Python, C library, packages (None where absent), CPUs, memory, free disk,
        NVIDIA GPUs, and the list of what is missing.
    """
    import psutil

    packages: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            packages[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            packages[name] = None
    missing = [f"package {name}" for name, found in packages.items() if found is None]
    if shutil.which("g++") is None:
        missing.append("g++ (needed only to install)")
    tfx = packages["tfx"]
    return {
        "stack": None if tfx is None else "older" if tfx < "1.17" else "newer",
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()),
        "packages": packages,
        "cpus": len(os.sched_getaffinity(0)),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "free_disk_gib": round(shutil.disk_usage(".").free / 2**30, 1),
        "gpus": _gpus(),
        "missing": missing,
    }


def _gpus() -> list[str]:
    """Names of NVIDIA GPUs, by the driver's own tool."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    answer = subprocess.run(query, capture_output=True, text=True, check=False)
    return answer.stdout.strip().splitlines() if answer.returncode == 0 else []


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def doctor(as_json: bool) -> None:
    """Say what this machine can run, and what is missing. Exit code 1 if anything is."""
    found = examine()
    if as_json:
        click.echo(json.dumps(found))
    else:
        table = Table(show_header=False)
        for name, value in found.items():
            if isinstance(value, dict):
                for package, version in value.items():
                    table.add_row(package, version or "[red]absent[/red]")
            elif isinstance(value, list):
                table.add_row(name, ", ".join(map(str, value)) or "none")
            else:
                table.add_row(name, str(value))
        Console().print(table)
    if found["missing"]:
        raise RunError(f"missing: {', '.join(found['missing'])}; run `make run` again")

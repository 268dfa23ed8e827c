"""Runs the benchmarks in turn, each in a process of its own, and prints their bars.

    python -m benchmarks.all [--size small|full] [--only NAME ...]

``small`` shows that they work: its figures say nothing, so its result files go to a
scratch folder. A benchmark that needs what is not here (data, FuxiCTR's interpreter) is
named and left out.
"""

import argparse
import dataclasses
import re
import subprocess
import sys
import tempfile
import time

from rich.console import Console
from rich.table import Table

# Runs a module's main with its result files in another folder.
_REDIRECTED = """
import importlib, pathlib, sys
_, name, folder, *sys.argv[1:] = sys.argv
for one in ("bars", name):
    importlib.import_module(f"benchmarks.{one}").RESULTS = pathlib.Path(folder)
sys.modules[f"benchmarks.{name}"].main()
"""
_BAR = re.compile(r": (?:met|MISSED)$")


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """A module of this folder.

    Attributes:
        small: arguments that make it small.
        needs: what it needs besides, or nothing; it is then left out.
    """

    small: str = ""
    needs: str = ""


BENCHMARKS = {
    "input": Benchmark("--rows 16384 --rounds 1 --seconds 0.5"),
    "training": Benchmark("--rows 131072 --rounds 1 --recipe-steps 4"),
    "optimizer": Benchmark("--rounds 1 --steps 2 --shrink 10 --rows 8000 --seeds 0"),
    "transform": Benchmark("--rows 16384 --rounds 1"),
    "gauc": Benchmark("--rows 20000 --users 2000 --rounds 1"),
    "tfma_columns": Benchmark("--rows 20000 --stock-rows 2000"),
    "coverage": Benchmark("--sets 2"),
    "demo_truth": Benchmark("--seeds 0 --only demo"),
    "dag": Benchmark("--rounds 1"),
    "kills": Benchmark("--only Transform"),
    "load": Benchmark("--rows 20000 40000 --beam-rows 20000 --shards 50"),
    "movielens": Benchmark(needs="--input, the folder of MovieLens-100K"),
    "fuxictr_training": Benchmark(needs="--fuxictr-python, its interpreter"),
}


def run(name: str, size: str) -> tuple[float, int, list[str]]:
    """Runs one benchmark; its output passes through.

    Args:
        name: its module.
        size: ``small`` or ``full``.

    Returns:
        Wall seconds, exit code, and the lines that state a bar.
    """
    start = time.perf_counter()
    bars = []
    with tempfile.TemporaryDirectory() as scratch:
        command = ["-m", f"benchmarks.{name}"]
        if size == "small":
            command = ["-c", _REDIRECTED, name, scratch]
            command += BENCHMARKS[name].small.split()
        with subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                if _BAR.search(line.rstrip()):
                    bars.append(line.strip())
    return time.perf_counter() - start, process.returncode, bars


def main() -> None:
    """Runs what was asked for and prints one table; exit code 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("small", "full"), default="small")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS)
    arguments = parser.parse_args()
    table = Table(title=f"benchmarks, {arguments.size}", title_justify="left")
    for column in ("benchmark", "seconds", "bars"):
        table.add_column(column, justify="right" if column == "seconds" else "left")
    failed = False
    for name in arguments.only:
        if needs := BENCHMARKS[name].needs:
            table.add_row(name, "-", f"not run: needs {needs}")
            continue
        print(f"== {name}", flush=True)
        seconds, code, bars = run(name, arguments.size)
        failed |= code != 0
        outcome = f"FAILED, exit code {code}" if code else "no bars of its own"
        table.add_row(name, f"{seconds:.0f}", "\n".join(bars) or outcome)
    Console().print(table)
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""What training benchmarks share: medians of rounds, bars, and the result file."""

import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def at_least(what: str, value: float, bar: float) -> str:
    """A bar as a line: the value must reach it.

    Args:
        what: name of the value.
        value: as measured.
        bar: the least that is wanted.

    Returns:
        Name, value, bar, and ``met`` or ``MISSED``.
    """
    verdict = "met" if value >= bar else "MISSED"
    return f"{what}: {value:.3g} (at least {bar:g}): {verdict}"


def at_most(what: str, value: float, bar: float) -> str:
    """The same for a value that must not be above its bar."""
    verdict = "met" if value <= bar else "MISSED"
    return f"{what}: {value:.3g} (at most {bar:g}): {verdict}"


def interleaved(rounds: int, names: Sequence[str]) -> Iterator[str]:
    """Names in the order A B A B, each announced, since a run takes seconds.

    Args:
        rounds: how often each comes.
        names: the contestants.

    Yields:
        The name to run next.
    """
    for number in range(rounds):
        for name in names:
            print(f"  round {number + 1} of {rounds}: {name}", flush=True)
            yield name


def medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """The median over the rounds of each figure.

    Args:
        runs: one dict a round, all with the same keys.

    Returns:
        The medians by key.
    """
    return {key: statistics.median(one[key] for one in runs) for key in runs[0]}


def write_result(name: str, result: dict[str, Any]) -> None:
    """Writes ``benchmarks/results/<name>_tfx<version>.json``.

    Args:
        name: what was measured.
        result: JSON values; ``machine`` is that of ``benchmarks.machine.describe``.
    """
    file = f"{name}_tfx{result['machine']['packages']['tfx']}.json"
    (RESULTS / file).write_text(json.dumps(result, indent=1) + "\n", "utf-8")

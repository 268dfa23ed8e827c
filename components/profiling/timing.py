"""What work costs an example, measured in turns so that all see the same machine."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

# Endless work: each item is the number of rows that were handled for it. The first one
# is warm-up: opening files, filling the window of the shuffling, tracing.
Work = Callable[[], Iterator[float]]

ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class Cost:
    """What an example costs.

    Attributes:
        wall_us: elapsed microseconds.
        cpu_us: processor microseconds, over all threads of this process.
    """

    wall_us: float
    cpu_us: float

    def plus(self, other: "Cost") -> "Cost":
        """What both cost together."""
        return Cost(self.wall_us + other.wall_us, self.cpu_us + other.cpu_us)

    def beyond(self, other: "Cost") -> "Cost":
        """What this costs more than another; 0 where noise made it cost less."""
        return Cost(
            max(0.0, self.wall_us - other.wall_us), max(0.0, self.cpu_us - other.cpu_us)
        )


def timed(work: Work, seconds: float) -> Cost:
    """Does some work for a while.

    Args:
        work: what to do; its first item is not counted.
        seconds: after the warm-up; at least one item is done.

    Returns:
        Its cost.
    """
    items = work()
    next(items)
    rows = 0.0
    wall, cpu = time.perf_counter(), time.process_time()
    while rows == 0 or time.perf_counter() < wall + seconds:
        rows += next(items)
    elapsed = time.perf_counter() - wall
    return Cost(elapsed / rows * 1e6, (time.process_time() - cpu) / rows * 1e6)


def interleaved(works: Mapping[str, Work], seconds: float) -> dict[str, Cost]:
    """Does several works in turns: A B A B ..., so that all meet the same load.

    Args:
        works: by name.
        seconds: of each, over all rounds.

    Returns:
        By name the medians over the rounds.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            costs[name].append(timed(work, seconds / ROUNDS))
    return {name: median(found) for name, found in costs.items()}


def median(costs: Sequence[Cost]) -> Cost:
    """Medians of wall and processor time."""
    return Cost(
        statistics.median(one.wall_us for one in costs),
        statistics.median(one.cpu_us for one in costs),
    )

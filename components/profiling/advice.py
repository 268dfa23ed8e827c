"""Settings that were tried on this machine, and which of them are worth a change."""

import dataclasses
import statistics
from collections.abc import Iterable
from typing import Any

# Less is within what two equal loops differ by.
LEAST_GAIN = 0.03
MOST = 3


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of one setting.

    Attributes:
        setting: its key in the configuration.
        before: its value.
        after: the value to try.
        price: what the change costs elsewhere.
    """

    setting: str
    before: int | str
    after: int | str
    price: str


@dataclasses.dataclass(frozen=True)
class Tried:
    """A change and what it brought.

    Attributes:
        change: the setting.
        gains: change of the examples/s of the loop, round by round: 0.38 is 38 % more.
    """

    change: Change
    gains: tuple[float, ...]

    @property
    def gain(self) -> float:
        """Median over the rounds."""
        return statistics.median(self.gains)

    @property
    def line(self) -> str:
        """Setting, values, gain and price in one line."""
        one = self.change
        low, high = min(self.gains) * 100, max(self.gains) * 100
        return (
            f"{one.setting} {one.before} -> {one.after}: {self.gain * 100:+.0f} % "
            f"examples/s (rounds: {low:+.0f} to {high:+.0f} %); {one.price}"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **dataclasses.asdict(self.change),
            "gain": self.gain,
            "gains": list(self.gains),
            "line": self.line,
        }


def best(tried: Iterable[Tried]) -> list[Tried]:
    """The changes that help.

    Args:
        tried: all that were measured.

    Returns:
        At most three, the largest gain first: more than 3 %, and some in every round.
    """
    helping = [one for one in tried if one.gain > LEAST_GAIN and min(one.gains) > 0]
    return sorted(helping, key=lambda one: -one.gain)[:MOST]

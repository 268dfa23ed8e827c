"""Click rates of days and of the evaluated rows against the training rows."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from scipy.stats import norm

from components.data_checks.config import ClickRate
from components.data_checks.divergence import MIN_EXPECTED
from components.data_checks.findings import Finding, finding, skipped
from components.data_checks.shifts import FALSE_ALARMS
from components.data_checks.tally import EARLIER, EVAL, LAST_DAY, Tally
from data.arrays import Ints

_EPOCH = date(1970, 1, 1)


def click_rate_findings(tally: Tally, rule: ClickRate) -> Iterator[Finding]:
    """Compares click rates.

    A day of the training rows is held against the other ones, a day of the evaluated
    rows and these together against all training rows. Days with too few clicks to tell
    are left out.

    Args:
        tally: what was counted.
        rule: level and limit of the relative change.

    Yields:
        One finding for the evaluated rows, and one a day.
    """
    if rule.level == "off":
        return
    compared = [one for one in _compared(tally) if one.expected >= MIN_EXPECTED]
    if not compared:
        reason = f"fewer than {MIN_EXPECTED} clicks expected in each part"
        yield skipped("click_rate", rule, "label", "eval", reason)
    for one in compared:
        # Bonferroni: the chance of all comparisons together stays below FALSE_ALARMS.
        chance = float(norm.isf(FALSE_ALARMS / 2 / len(compared))) * one.error
        (rows, clicks), (rest_rows, rest_clicks) = one.part, one.rest
        text = (
            f"{clicks / rows:.2%} of {rows:,} rows against "
            f"{rest_clicks / rest_rows:.2%}, a change of {one.change:+.1%}, at most "
            f"{rule.limit:.1%} beyond {chance:.1%} by chance"
        )
        yield finding(
            "click_rate",
            rule,
            "label",
            one.place,
            abs(one.change),
            text,
            is_bad=abs(one.change) > rule.limit + chance,
            chance=chance,
        )


@dataclass(frozen=True, kw_only=True)
class RateChange:
    """Two click rates.

    Attributes:
        place: where the first one is.
        part: rows and clicks.
        rest: rows and clicks that it is compared with.
        weights: independent draws that a row of each stands for.
    """

    place: str
    part: tuple[int, int]
    rest: tuple[int, int]
    weights: tuple[float, float]

    @property
    def change(self) -> float:
        """Relative change, -1 without any clicks."""
        return self.part[1] / self.part[0] / (self.rest[1] / self.rest[0]) - 1

    @property
    def expected(self) -> float:
        """Clicks, as draws, that the part has at the other rate."""
        return self.part[0] * self.weights[0] * self.rest[1] / self.rest[0]

    @property
    def error(self) -> float:
        """Standard error of the change where both rates are equal: a score test.

        ``sqrt((1 - p) / p * (1 / n + 1 / m))`` with the rate p of both together.
        """
        n, m = (
            side[0] * weight
            for side, weight in zip((self.part, self.rest), self.weights, strict=True)
        )
        p = (self.part[1] + self.rest[1]) / (self.part[0] + self.rest[0])
        return math.sqrt((1 - p) / p * (1 / n + 1 / m))


def _compared(tally: Tally) -> Iterator[RateChange]:
    """The evaluated rows, then each day."""
    train, evaluated = label_totals(tally, EARLIER, LAST_DAY), label_totals(tally, EVAL)
    # A group counts as its users; the days of it in the same proportion.
    weights = {
        "train": tally.draws(EARLIER, LAST_DAY) / train[0],
        "eval": tally.draws(EVAL) / evaluated[0],
    }
    parts = [("eval", "eval", evaluated, train)]
    for (split, day), counted in sorted(tally.days.items()):
        part = (int(counted[0]), int(counted[1]))
        rest = train
        if split == "train":
            rest = (train[0] - part[0], train[1] - part[1])
        parts.append((split, f"{split} on {day_name(day)}", part, rest))
    for split, place, part, rest in parts:
        # A rate of 0 has no relative change.
        if rest[1]:
            both = (weights[split], weights["train"])
            yield RateChange(place=place, part=part, rest=rest, weights=both)


def label_totals(tally: Tally, *groups: int) -> tuple[int, int]:
    """Rows and clicks of some groups."""
    by_label: Ints = tally.labels[list(groups)].sum(axis=0)
    return int(by_label.sum()), int(by_label[1])


def click_rates(tally: Tally) -> list[dict[str, Any]]:
    """Rows and clicks of each day, by split."""
    return [
        {
            "split": split,
            "day": day_name(day),
            "rows": int(rows),
            "clicks": int(clicks),
        }
        for (split, day), (rows, clicks) in sorted(tally.days.items())
    ]


def day_name(day: int) -> str:
    """A day since 1970-01-01 as a date; its number where the calendar ends."""
    try:
        return (_EPOCH + timedelta(days=day)).isoformat()
    except OverflowError:
        return f"day {day}"

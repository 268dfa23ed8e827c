"""What to simulate."""

import math
from dataclasses import dataclass

from data.errors import ConfigError

# Monday 2025-01-06 00:00:00 UTC.
START_SECONDS = 1_736_121_600
HOUR_SECONDS = 3_600
DAY_SECONDS = 86_400

_BOUNDS = {
    "rows": (1, 10**12),
    "users": (1, 10**8),
    "items": (20, 100_000),
    "days": (1, 3_650),
    "seed": (0, 2**63 - 1),
    "history_length": (1, 1_000),
}


@dataclass(frozen=True, kw_only=True)
class SimulatorConfig:
    """Size of the log, its seed, and the strength of what drives clicks.

    Strengths are standard deviations on the logit scale over the rows of the log. With
    the defaults the true probability has an expected GAUC near 0.72, and the best single
    column goes less than half of the way there from 0.5.

    Attributes:
        rows: impressions in all.
        users: distinct users; each is seen at least once if ``rows >= 2 * users``.
        items: distinct items, some of them born while the log runs.
        days: days of 24 hours from Monday 2025-01-06 00:00 UTC.
        seed: equal seeds give equal rows.
        history_length: most items in a history; older ones fall out.
        click_rate: expected share of clicks.
        user_std: base rate of a user.
        item_std: quality of an item, its freshness and its price.
        position_std: place on the page.
        cross_std: sum of category x device, category x age bucket and category x hour.
        taste_std: user vector times item vector, neither of which is in the log.
    """

    rows: int = 320_000
    users: int = 20_000
    items: int = 300
    days: int = 8
    seed: int = 0
    history_length: int = 20
    click_rate: float = 0.055
    user_std: float = 0.5
    item_std: float = 0.3
    position_std: float = 0.33
    cross_std: float = 0.45
    taste_std: float = 0.65

    def __post_init__(self) -> None:
        """Checks every value.

        Raises:
            ConfigError: a value lies outside its bounds.
        """
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ConfigError(f"{name}: must be a whole number, got {value!r}")
            if not low <= value <= high:
                raise ConfigError(
                    f"{name}: must lie between {low:,} and {high:,}, got {value:,}"
                )
        if not 0.0 < self.click_rate < 0.5:
            raise ConfigError(
                f"click_rate: must lie between 0 and 0.5, got {self.click_rate}"
            )
        for name in vars(self):
            value = getattr(self, name)
            if name.endswith("_std") and not (math.isfinite(value) and 0 <= value <= 5):
                raise ConfigError(f"{name}: must lie between 0 and 5, got {value}")

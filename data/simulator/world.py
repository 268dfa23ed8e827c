"""What drives clicks: effects of columns, their crosses, and a taste that no column tells."""

from dataclasses import dataclass

import numpy as np

from data.simulator import exact
from data.simulator.config import HOUR_SECONDS, START_SECONDS, SimulatorConfig
from data.simulator.effects import HOURS_PER_DAY_PART, Tables, draw_tables
from data.simulator.exact import Floats, Integers
from data.simulator.population import (
    DEVICE_SHARES,
    POSITION_SHARES,
    TASTE_DIMENSIONS,
    Items,
    Users,
    draw_items,
    draw_users,
)

# Impressions by hour of the day, relative.
HOUR_WEIGHTS = (
    *(5, 3, 2, 2, 2, 3, 6, 10, 12, 12, 12, 13),
    *(15, 14, 13, 13, 14, 16, 19, 21, 22, 20, 15, 9),
)
# Share of impressions on the device that a user mostly uses.
_OWN_DEVICE_SHARE = 0.65
# Impressions of an item fall off with its age, down to a floor.
_POPULARITY_FLOOR = 0.4
_POPULARITY_HOURS = 120.0
# Interest in an item falls off with its age.
_FRESH_HOURS = 48.0
_CONTEXT_STD = 0.1
_PILOT_ROWS = 50_000


@dataclass(frozen=True, kw_only=True)
class Impressions:
    """One value a row.

    Attributes:
        timestamp: unix seconds, ascending.
        user, item, device, hour, position: codes from 0.
        age_hours: hours since the item was born.
    """

    timestamp: Integers
    user: Integers
    item: Integers
    device: Integers
    hour: Integers
    position: Integers
    age_hours: Floats


class World:
    """Users, items and effects of one seed; draws impressions and knows their truth."""

    def __init__(self, config: SimulatorConfig) -> None:
        """Draws the world and scales its effects on a pilot sample of impressions.

        Args:
            config: sizes, strengths and seed.
        """
        self.config = config
        self.users: Users = draw_users(config, exact.stream(config.seed, 0))
        self.items: Items = draw_items(
            config, exact.stream(config.seed, 1), START_SECONDS
        )
        self.tables: Tables = draw_tables(exact.stream(config.seed, 2))
        self.item_taste = self.items.taste
        self._activity_borders = np.cumsum(self.users.activity)
        self._scales = {"user": 1.0, "item": 1.0, "context": 1.0}
        self._scales |= {"position": 1.0, "cross": 1.0, "taste": 1.0}
        self.intercept = 0.0
        self._calibrate()

    def popularity(self, second: int) -> Floats:
        """[items] relative frequency of impressions; 0 for items not yet born.

        Args:
            second: unix time.
        """
        age_hours = (second - self.items.born) / HOUR_SECONDS
        alive = age_hours >= 0.0
        decay = exact.exp(-np.maximum(age_hours, 0.0) / _POPULARITY_HOURS)
        share = _POPULARITY_FLOOR + (1.0 - _POPULARITY_FLOOR) * decay
        return np.where(alive, self.items.popularity * share, 0.0)

    def draw(
        self,
        random: np.random.Generator,
        timestamps: Integers,
        hour_start: int,
        first_users: Integers,
    ) -> Impressions:
        """Draws impressions of one hour.

        Args:
            random: where to draw from.
            timestamps: [rows] unix seconds, ascending.
            hour_start: unix seconds at which the hour begins; items born later in it
                wait for the next one.
            first_users: users that must be among the rows, at most as many as rows; the
                others come by activity.

        Returns:
            The impressions.
        """
        rows = len(timestamps)
        points = random.random(rows - len(first_users)) * self._activity_borders[-1]
        drawn = np.searchsorted(self._activity_borders, points, side="right")
        user = np.r_[first_users, np.minimum(drawn, self.config.users - 1)]
        user = user[np.argsort(random.random(rows), kind="stable")].astype(np.int64)
        item = exact.choose(random, self.popularity(hour_start), rows)
        anywhere = exact.choose(random, DEVICE_SHARES, rows)
        own = random.random(rows) < _OWN_DEVICE_SHARE
        return Impressions(
            timestamp=timestamps,
            user=user,
            item=item,
            device=np.where(own, self.users.device[user], anywhere),
            hour=(timestamps // HOUR_SECONDS) % 24,
            position=exact.choose(random, POSITION_SHARES, rows),
            age_hours=(timestamps - self.items.born[item]) / HOUR_SECONDS,
        )

    def taste(self, user: Integers, item: Integers) -> Floats:
        """[rows] taste of users for items on the logit scale."""
        vectors = self.users.taste[user], self.item_taste[item]
        return self._scales["taste"] * _dot(*vectors)

    def parts(self, rows: Impressions) -> dict[str, Floats]:
        """What the logit is made of, besides the intercept.

        Args:
            rows: the impressions.

        Returns:
            [rows] by name: user, item, context, position, cross, taste.
        """
        items, tables = self.items, self.tables
        category = items.category[rows.item]
        day_part = rows.hour // HOURS_PER_DAY_PART
        fresh = exact.exp(-rows.age_hours / _FRESH_HOURS)
        raw = {
            "user": self.users.effect[rows.user],
            "item": items.quality[rows.item]
            + 0.4 * tables.category[category]
            - 0.3 * items.log_price[rows.item]
            + 1.5 * fresh,
            "context": tables.device[rows.device] + tables.day_part[day_part],
            "position": tables.position[rows.position],
            "cross": tables.category_device[category, rows.device]
            + tables.category_age[category, self.users.age[rows.user]]
            + tables.category_day_part[category, day_part],
        }
        scaled = {name: self._scales[name] * part for name, part in raw.items()}
        return scaled | {"taste": self.taste(rows.user, rows.item)}

    def logits(self, rows: Impressions) -> Floats:
        """[rows] log odds of a click."""
        result = np.full(len(rows.user), self.intercept)
        for part in self.parts(rows).values():
            result += part
        return result

    def _calibrate(self) -> None:
        """Sets scales and intercept, so that a small pilot has the wanted strengths."""
        config = self.config
        rows = self._pilot()
        weights = np.zeros(config.items)
        np.add.at(weights, rows.item, 1.0 / _PILOT_ROWS)
        # Without a mean, taste favours no item and no user as such.
        centre = [
            exact.total(weights * self.items.taste[:, dimension])
            for dimension in range(TASTE_DIMENSIONS)
        ]
        self.item_taste = self.items.taste - np.array(centre)
        wanted = {"user": config.user_std, "item": config.item_std}
        wanted |= {"context": _CONTEXT_STD, "position": config.position_std}
        wanted |= {"cross": config.cross_std, "taste": config.taste_std}
        parts = self.parts(rows)
        for name, part in parts.items():
            spread = exact.std(part)
            # Equal values, such as those of a single user, spread by rounding only.
            self._scales[name] = wanted[name] / spread if spread > 1e-9 else 0.0
        low, high = -20.0, 20.0
        for _ in range(60):
            self.intercept = (low + high) / 2.0
            rate = exact.mean(exact.sigmoid(self.logits(rows)))
            low, high = (
                (self.intercept, high)
                if rate < config.click_rate
                else (low, self.intercept)
            )

    def _pilot(self) -> Impressions:
        """Impressions spread over the days like those of the log."""
        random = exact.stream(self.config.seed, 3)
        hours = 24 * self.config.days
        share = _PILOT_ROWS // min(hours, 240)
        pieces = []
        for piece in range(min(hours, 240)):
            # Every hour, or 240 hours evenly spread over a longer log.
            hour = piece * hours // min(hours, 240)
            start = START_SECONDS + hour * HOUR_SECONDS
            count = max(1, share * HOUR_WEIGHTS[hour % 24] * 24 // sum(HOUR_WEIGHTS))
            seconds = np.full(count, start + HOUR_SECONDS // 2)
            pieces.append(self.draw(random, seconds, start, np.empty(0, np.int64)))
        names = Impressions.__dataclass_fields__
        return Impressions(
            **{
                name: np.concatenate([getattr(piece, name) for piece in pieces])
                for name in names
            }
        )


def _dot(left: Floats, right: Floats) -> Floats:
    """[rows] dot products of [rows, dimensions] vectors, added in order."""
    result: Floats = left[:, 0] * right[:, 0]
    for dimension in range(1, TASTE_DIMENSIONS):
        result = result + left[:, dimension] * right[:, dimension]
    return result

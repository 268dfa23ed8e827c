"""Users, items and page positions: what exists before the first impression."""

from dataclasses import dataclass

import numpy as np

from data.simulator import exact
from data.simulator.config import DAY_SECONDS, SimulatorConfig
from data.simulator.exact import Floats, Integers

CATEGORIES = (
    "apparel",
    "automotive",
    "beauty",
    "electronics",
    "finance",
    "food",
    "games",
    "home",
    "media",
    "sports",
    "toys",
    "travel",
)
DEVICES = ("phone", "desktop", "tablet")
DEVICE_SHARES = np.array([0.6, 0.28, 0.12])
AGE_BUCKETS = ("18-24", "25-34", "35-44", "45-54", "55-64", "65+")
AGE_SHARES = np.array([0.17, 0.25, 0.2, 0.16, 0.13, 0.09])
GENDERS = ("female", "male", "unknown")
GENDER_SHARES = np.array([0.46, 0.44, 0.1])
COUNTRIES = ("US", "DE", "GB", "FR", "ES", "IT", "PL", "NL")
COUNTRY_SHARES = np.array([0.34, 0.16, 0.14, 0.11, 0.09, 0.07, 0.05, 0.04])
POSITION_SHARES = np.array([0.3, 0.24, 0.19, 0.15, 0.12])
ITEMS_PER_CAMPAIGN = 4

# Activity of users falls off as a power law with this index, up to a cap.
ACTIVITY_TAIL_INDEX = 1.6
ACTIVITY_CAP = 200.0
TASTE_DIMENSIONS = 2
# Items come in styles, which no column tells; items of a style appeal to the same users.
STYLES = 6
STYLE_SHARE = 0.85
# The other items are born while the log runs.
_BORN_BEFORE_SHARE = 0.75
_OLDEST_DAYS = 30


@dataclass(frozen=True, kw_only=True)
class Users:
    """One value a user.

    Attributes:
        activity: relative frequency of impressions, a power law.
        effect: base rate on the logit scale, standardised.
        age, gender, country, device: codes; the device is the one used most.
        taste: [users, dimensions] unit vectors.
    """

    activity: Floats
    effect: Floats
    age: Integers
    gender: Integers
    country: Integers
    device: Integers
    taste: Floats


@dataclass(frozen=True, kw_only=True)
class Items:
    """One value an item.

    Attributes:
        popularity: relative frequency of impressions at birth, Zipf's law.
        born: unix seconds.
        category, campaign: codes.
        price: in currency units, skewed.
        log_price: its standardised logarithm.
        quality: effect on the logit scale, standardised.
        taste: [items, dimensions].
    """

    popularity: Floats
    born: Integers
    category: Integers
    campaign: Integers
    price: Floats
    log_price: Floats
    quality: Floats
    taste: Floats


def draw_users(config: SimulatorConfig, random: np.random.Generator) -> Users:
    """Draws the users.

    Args:
        config: how many.
        random: where to draw from.

    Returns:
        Their attributes.
    """
    count = config.users
    points = 1.0 - random.random(count)
    # points^(-1 / 1.6) by square roots, which are exact: 5/8 = 1/2 + 1/8.
    eighth = np.sqrt(np.sqrt(np.sqrt(points)))
    activity = np.minimum(1.0 / (np.sqrt(points) * eighth), ACTIVITY_CAP)
    age = exact.choose(random, AGE_SHARES, count)
    country = exact.choose(random, COUNTRY_SHARES, count)
    effect = (
        exact.normal(random, (count,))
        + 0.4 * exact.normal(random, (len(AGE_BUCKETS),))[age]
        + 0.4 * exact.normal(random, (len(COUNTRIES),))[country]
    )
    taste = exact.normal(random, (count, TASTE_DIMENSIONS))
    return Users(
        activity=activity,
        effect=effect,
        age=age,
        gender=exact.choose(random, GENDER_SHARES, count),
        country=country,
        device=exact.choose(random, DEVICE_SHARES, count),
        taste=taste / _norms(taste),
    )


def draw_items(
    config: SimulatorConfig, random: np.random.Generator, start: int
) -> Items:
    """Draws the items.

    Args:
        config: how many, and over how many days they are born.
        random: where to draw from.
        start: unix seconds of the first impression.

    Returns:
        Their attributes.
    """
    count = config.items
    ranks = 1.0 + np.argsort(random.random(count), kind="stable")
    # Zipf's law with exponent 3/4.
    popularity = 1.0 / (np.sqrt(ranks) * np.sqrt(np.sqrt(ranks)))
    before = random.random(count) < _BORN_BEFORE_SHARE
    before[:2] = True
    span = np.where(before, -_OLDEST_DAYS, config.days) * DAY_SECONDS
    born = start + np.floor(random.random(count) * span).astype(np.int64)
    # Campaigns lie inside categories, styles across them.
    campaign = np.arange(count) // ITEMS_PER_CAMPAIGN
    campaign_category = exact.choose(
        random, np.ones(len(CATEGORIES)), int(campaign[-1]) + 1
    )
    log_price = exact.normal(random, (count,))
    style = exact.choose(random, np.ones(STYLES), count)
    centres = exact.normal(random, (STYLES, TASTE_DIMENSIONS))
    centres = centres / _norms(centres)
    own = exact.normal(random, (count, TASTE_DIMENSIONS)) / np.sqrt(TASTE_DIMENSIONS)
    taste = np.sqrt(STYLE_SHARE) * centres[style] + np.sqrt(1.0 - STYLE_SHARE) * own
    return Items(
        popularity=popularity,
        born=born,
        category=campaign_category[campaign],
        campaign=campaign,
        price=np.rint(exact.exp(3.0 + 0.9 * log_price) * 100.0) / 100.0,
        log_price=log_price,
        quality=exact.normal(random, (count,)),
        taste=taste,
    )


def _norms(vectors: Floats) -> Floats:
    """[rows, 1] Euclidean lengths of the rows."""
    squares = np.zeros((len(vectors), 1))
    for column in range(vectors.shape[1]):
        squares[:, 0] += vectors[:, column] * vectors[:, column]
    return np.sqrt(squares)

"""The click log, hour by hour."""

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from data.simulator import exact
from data.simulator.config import (
    DAY_SECONDS,
    HOUR_SECONDS,
    START_SECONDS,
    SimulatorConfig,
)
from data.simulator.exact import Floats, Integers
from data.simulator.history import Histories
from data.simulator.population import (
    AGE_BUCKETS,
    CATEGORIES,
    COUNTRIES,
    DEVICES,
    GENDERS,
)
from data.simulator.world import HOUR_WEIGHTS, Impressions, World

SCHEMA = pa.schema(
    [
        ("request_id", pa.string()),
        ("timestamp", pa.int64()),
        ("user_id", pa.string()),
        ("item_id", pa.string()),
        ("campaign_id", pa.string()),
        ("category", pa.string()),
        ("price", pa.float64()),
        ("item_age_hours", pa.float64()),
        ("device", pa.string()),
        ("hour", pa.int64()),
        ("position", pa.int64()),
        ("age_bucket", pa.string()),
        ("gender", pa.string()),
        ("country", pa.string()),
        ("history", pa.list_(pa.string())),
        ("click", pa.int64()),
        ("true_probability", pa.float64()),
    ]
)
# Bounds the memory of a large log; a smaller one has one batch an hour.
_BATCH_ROWS = 65_536
# A click before the log: the one of so many items shown that the user liked most, with
# liking = taste / taste_std + noise.
_SHOWN = 8
_CHOICE_NOISE = 0.5
_SEED_USERS = 50_000


def simulate(config: SimulatorConfig) -> Iterator[pa.RecordBatch]:
    """Generates the log in the order of time.

    Each row is clicked with its ``true_probability``, independently of all others. A
    history holds clicks of earlier batches (an hour, or less in a large log) and clicks
    from before the log, which were chosen by taste; so it tells taste, and never a click
    of its own batch or later. Memory grows with users and items, not with rows.

    Args:
        config: sizes, strengths and seed.

    Yields:
        Batches of ``SCHEMA``; equal configurations give equal batches on any machine.
    """
    world = World(config)
    histories = _seed_histories(world)
    texts = _Texts(world)
    newcomers = np.argsort(
        exact.stream(config.seed, 4).random(config.users), kind="stable"
    )
    # Half of a short log at most is given to users who must be seen.
    first_rows = min(config.users, config.rows // 2)
    done = 0
    for batch, (begin, end, hour_start, rows) in enumerate(_batches(config)):
        random = exact.stream(config.seed, 5, batch)
        seconds = begin + np.floor(random.random(rows) * (end - begin)).astype(np.int64)
        first = slice(
            done * first_rows // config.rows, (done + rows) * first_rows // config.rows
        )
        impressions = world.draw(random, np.sort(seconds), hour_start, newcomers[first])
        probability = exact.sigmoid(world.logits(impressions))
        click = random.random(rows) < probability
        yield texts.record_batch(
            impressions, histories.read(impressions.user), click, probability, done
        )
        histories.append(impressions.user[click], impressions.item[click])
        done += rows


def day_rows(config: SimulatorConfig) -> list[int]:
    """Rows of each day.

    Args:
        config: the simulation.

    Returns:
        One count a day; they add up to ``config.rows``.
    """
    borders = [day * config.rows // config.days for day in range(config.days + 1)]
    return [after - before for before, after in itertools.pairwise(borders)]


def _batches(config: SimulatorConfig) -> Iterator[tuple[int, int, int, int]]:
    """Begin and end in unix seconds, begin of the hour, and rows of each batch."""
    borders = np.r_[0, np.cumsum(HOUR_WEIGHTS)].tolist()
    for day, in_day in enumerate(day_rows(config)):
        for hour in range(24):
            start = START_SECONDS + day * DAY_SECONDS + hour * HOUR_SECONDS
            rows = (
                borders[hour + 1] * in_day // borders[-1]
                - borders[hour] * in_day // borders[-1]
            )
            pieces = -(-rows // _BATCH_ROWS)
            for piece in range(pieces):
                yield (
                    start + piece * HOUR_SECONDS // pieces,
                    start + (piece + 1) * HOUR_SECONDS // pieces,
                    start,
                    (piece + 1) * rows // pieces - piece * rows // pieces,
                )


def _seed_histories(world: World) -> Histories:
    """Histories as they stand when the log begins."""
    config = world.config
    length = config.history_length
    histories = Histories(config.users, length)
    random = exact.stream(config.seed, 6)
    popularity = world.popularity(START_SECONDS)
    noise = _CHOICE_NOISE * config.taste_std
    for start in range(0, config.users, _SEED_USERS):
        users = np.arange(start, min(start + _SEED_USERS, config.users))
        shape = (len(users), length)
        who = np.repeat(users, length)
        best = exact.choose(random, popularity, len(who))
        liking = world.taste(who, best) + noise * exact.normal(random, best.shape)
        for _ in range(_SHOWN - 1):
            other = exact.choose(random, popularity, len(who))
            rival = world.taste(who, other) + noise * exact.normal(random, best.shape)
            best = np.where(rival > liking, other, best)
            liking = np.maximum(rival, liking)
        # Active users clicked more before, too.
        expected = length * (0.4 + 0.2 * np.sqrt(world.users.activity[users]))
        counts = np.floor(2.0 * expected * random.random(len(users))).astype(np.int64)
        histories.seed(users, best.reshape(shape), np.minimum(counts, length))
    return histories


class _Texts:
    """Turns codes into the columns of the log."""

    def __init__(self, world: World) -> None:
        """Makes the text of each code once."""
        config = world.config
        self._world = world
        self._users = numbered("u", np.arange(config.users), 6)
        self._items = numbered("i", np.arange(config.items), 4)
        self._campaigns = numbered("c", np.arange(config.items), 3)

    def record_batch(
        self,
        rows: Impressions,
        history: tuple[Integers, Integers],
        click: npt.NDArray[np.bool_],
        probability: Floats,
        first_row: int,
    ) -> pa.RecordBatch:
        """One batch of ``SCHEMA``."""
        users, items = self._world.users, self._world.items
        offsets, history_items = history
        numbers = np.arange(first_row, first_row + len(rows.user))
        columns = [
            numbered("r", numbers, 12),
            pa.array(rows.timestamp),
            self._users.take(pa.array(rows.user)),
            self._items.take(pa.array(rows.item)),
            self._campaigns.take(pa.array(items.campaign[rows.item])),
            _named(CATEGORIES, items.category[rows.item]),
            pa.array(items.price[rows.item]),
            pa.array(np.rint(rows.age_hours * 10.0) / 10.0),
            _named(DEVICES, rows.device),
            pa.array(rows.hour),
            pa.array(rows.position + 1),
            _named(AGE_BUCKETS, users.age[rows.user]),
            _named(GENDERS, users.gender[rows.user]),
            _named(COUNTRIES, users.country[rows.user]),
            pa.ListArray.from_arrays(
                pa.array(offsets.astype(np.int32)),
                self._items.take(pa.array(history_items)),
            ),
            pa.array(click.astype(np.int64)),
            pa.array(probability),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def numbered(prefix: str, numbers: Integers, width: int) -> pa.Array:
    """Texts such as ``u000123``.

    Args:
        prefix: what stands before the number.
        numbers: [rows] numbers >= 0.
        width: fewest digits.

    Returns:
        [rows] texts.
    """
    digits = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")
    return pc.binary_join_element_wise(pa.scalar(prefix), digits, pa.scalar(""))


def _named(names: tuple[str, ...], codes: Integers) -> pa.Array:
    """[rows] names of codes."""
    return pa.array(names).take(pa.array(codes))

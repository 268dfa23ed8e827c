"""Counts of a log while it is written, and how well its clicks can be ranked."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from data.simulator.config import DAY_SECONDS, START_SECONDS, SimulatorConfig
from data.simulator.truth import expected_gauc

# True probabilities are kept for about so many rows: 30 MB, whatever the log's size.
_KEPT_ROWS = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What the rows of a log add up to.

    Attributes:
        rows, clicks: counts.
        users, items: distinct ones that were seen.
        expected_clicks: sum of the true probabilities.
        true_gauc: expected GAUC of the true probability, which no model can pass; None
            if no user has two rows.
        true_gauc_last_day: the same over the rows of the last day.
        gauc_users: users whose rows the two figures stand on; all of them in a log of up
            to two million rows, else a random part.
    """

    rows: int
    clicks: int
    users: int
    items: int
    expected_clicks: float
    true_gauc: float | None
    true_gauc_last_day: float | None
    gauc_users: int


class Tally:
    """Adds up batches in memory that does not grow with the log."""

    def __init__(self, config: SimulatorConfig) -> None:
        """Starts at zero.

        Args:
            config: what is simulated.
        """
        self._users = np.zeros(config.users, np.bool_)
        self._items = np.zeros(config.items, np.bool_)
        self._rows = self._clicks = 0
        self._expected = 0.0
        # Numbers of users say nothing about them, so the first ones are a fair sample.
        self._kept_users = max(
            1, min(config.users, config.users * _KEPT_ROWS // config.rows)
        )
        last_day = START_SECONDS + (config.days - 1) * DAY_SECONDS
        self._last_day = last_day
        self._kept: list[tuple[npt.NDArray[np.generic], ...]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Counts the rows of a batch.

        Args:
            batch: rows of ``data.simulator.log.SCHEMA``.
        """
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        users = _numbers(columns["user_id"])
        probability = columns["true_probability"].to_numpy()
        self._users[users] = True
        self._items[_numbers(columns["item_id"])] = True
        self._rows += batch.num_rows
        self._clicks += int(columns["click"].to_numpy().sum())
        self._expected += float(probability.sum())
        kept = users < self._kept_users
        last = columns["timestamp"].to_numpy() >= self._last_day
        self._kept.append((users[kept].astype(np.int32), probability[kept], last[kept]))

    def totals(self) -> Totals:
        """The sums so far."""
        users, probability, last = (
            np.concatenate(part) for part in zip(*self._kept, strict=True)
        )
        return Totals(
            rows=self._rows,
            clicks=self._clicks,
            users=int(self._users.sum()),
            items=int(self._items.sum()),
            expected_clicks=self._expected,
            true_gauc=expected_gauc(users, probability, probability),
            true_gauc_last_day=expected_gauc(
                users[last], probability[last], probability[last]
            ),
            gauc_users=int(self._users[: self._kept_users].sum()),
        )


def _numbers(names: pa.Array) -> npt.NDArray[np.int64]:
    """[rows] numbers behind names such as ``u000123``."""
    digits = pc.utf8_slice_codeunits(names, 1, 40)
    numbers: npt.NDArray[np.int64] = digits.cast(pa.int64()).to_numpy()
    return numbers

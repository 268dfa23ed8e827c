"""What one pass over the rows counts: codes by column, clicks by day, users.

Memory is fixed but for the days: 1.6 MB a column and 3 MB for users.

Shape legend: G groups of rows, L the labels 0 and 1.
"""

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from components.data_checks.codes import CODES, lengths, row_codes
from components.data_checks.columns import CheckedColumn
from components.data_checks.distinct import DistinctCounter
from components.data_checks.rows import RowBatch
from data.arrays import Ints
from data.dataset import Dataset
from data.manifest import Manifest
from data.splits import SECONDS_PER_DAY

# Groups of rows: the training rows in two parts, and the evaluated ones.
EARLIER, LAST_DAY, EVAL = range(3)
GROUPS = 3


class Tally:
    """Counts rows of the splits train and eval.

    Attributes:
        columns: what is counted.
        counts: by column name, [G, L, codes] rows.
        labels: [G, L] rows.
        present: by column name, then by shard, rows with a value.
        shard_rows: by shard, rows.
        outside: by column name, then by shard, identity-encoded ids that have no
            bucket.
        values: by column name, identity-encoded ids.
        days: by split and day (from 1970-01-01), rows and clicks.
    """

    def __init__(
        self,
        dataset: Dataset,
        columns: tuple[CheckedColumn, ...],
        manifest: Manifest,
        centres: dict[str, float],
    ) -> None:
        """Starts at zero.

        Args:
            dataset: the declaration.
            columns: what to count.
            manifest: of the shards; tells the last day of the training rows.
            centres: medians of number columns.
        """
        self.columns = columns
        self.counts = {
            column.name: np.zeros((GROUPS, 2, CODES), np.uint32) for column in columns
        }
        self.labels: Ints = np.zeros((GROUPS, 2), np.int64)
        self.present: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.shard_rows: dict[str, int] = defaultdict(int)
        self.outside: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.values: dict[str, int] = defaultdict(int)
        self.days: dict[tuple[str, int], Ints] = defaultdict(
            lambda: np.zeros(2, np.int64)
        )
        self._users = [DistinctCounter() for _ in range(GROUPS)]
        self._anonymous: Ints = np.zeros(GROUPS, np.int64)
        self._keys = dataset.keys
        self._centres = centres
        time = manifest.splits["train"].time
        self._last_day = time.last // SECONDS_PER_DAY if time else None

    def add(self, batch: RowBatch) -> None:
        """Counts a batch of the splits train or eval."""
        labels = batch.columns[self._keys.label_name].flatten().to_numpy()
        days = self._days(batch)
        groups = self._groups(batch.split, days, len(labels))
        self.labels += np.bincount(groups * 2 + labels, minlength=2 * GROUPS).reshape(
            GROUPS, 2
        )
        self.shard_rows[batch.shard] += len(labels)
        if self._keys.user_id:
            self._add_users(batch.columns[self._keys.user_id].flatten(), groups)
        if days is not None:
            for day in np.unique(days):
                clicks = labels[days == day]
                self.days[batch.split, int(day)] += [len(clicks), clicks.sum()]
        for column in self.columns:
            self._add_column(column, batch, groups, labels)

    def draws(self, group: int, *more: int) -> float:
        """Independent draws that the rows of some groups stand for.

        Rows of a user are alike, so a group counts as its users. A row without a user
        id counts by itself: nothing says that two of them are alike.
        """
        groups = [group, *more]
        rows = float(self.labels[groups].sum())
        if not self._keys.user_id:
            return rows
        users = DistinctCounter.of(self._users[one] for one in groups)
        return min(rows, users + float(self._anonymous[groups].sum()))

    def _add_users(self, users: pa.Array, groups: Ints) -> None:
        """Counts the users of a batch, and the rows whose user id is empty."""
        is_known = pc.not_equal(users, b"").to_numpy(zero_copy_only=False)
        self._anonymous += np.bincount(groups[~is_known], minlength=GROUPS)
        for group in np.unique(groups[is_known]):
            taken = pa.array(is_known & (groups == group))
            self._users[group].add(users.filter(taken))

    def _add_column(
        self, column: CheckedColumn, batch: RowBatch, groups: Ints, labels: Ints
    ) -> None:
        """Counts one column of a batch."""
        lists = batch.columns[column.name]
        codes = row_codes(column, lists, self._centres.get(column.name, 0.0))
        cells = (groups * 2 + labels) * CODES + codes
        # On one axis numpy adds without a Python step for each row.
        np.add.at(self.counts[column.name].reshape(-1), cells, np.uint32(1))
        self.present[column.name][batch.shard] += int((lengths(lists) > 0).sum())
        if column.buckets is not None:
            ids = lists.flatten().to_numpy()
            wrong = (ids < 0) | (ids >= column.buckets)
            self.outside[column.name][batch.shard] += int(wrong.sum())
            self.values[column.name] += len(ids)

    def _days(self, batch: RowBatch) -> Ints | None:
        """Day of each row since 1970-01-01 (UTC), if rows have a time."""
        if self._keys.timestamp is None:
            return None
        seconds = batch.columns[self._keys.timestamp.column].flatten().to_numpy()
        days: Ints = seconds // SECONDS_PER_DAY
        return days

    def _groups(self, split: str, days: Ints | None, rows: int) -> Ints:
        """Group of each row."""
        if split == "eval":
            return np.full(rows, EVAL)
        if days is None or self._last_day is None:
            return np.full(rows, EARLIER)
        return np.where(days == self._last_day, LAST_DAY, EARLIER)

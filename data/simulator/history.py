"""The items that each user clicked last."""

import numpy as np

from data.simulator.exact import Integers


class Histories:
    """A ring of item numbers for each user, filled by clicks in their order."""

    def __init__(self, users: int, length: int) -> None:
        """Starts with empty histories.

        Args:
            users: number of users.
            length: most items kept for a user.
        """
        self._items = np.zeros((users, length), np.int32)
        # Clicks of each user so far; the next one goes to this number modulo length.
        self._clicks = np.zeros(users, np.int64)

    def seed(self, users: Integers, items: Integers, counts: Integers) -> None:
        """Sets what users clicked before the log.

        Args:
            users: [some] distinct user numbers.
            items: [some, length] item numbers, the oldest first.
            counts: [some] how many of them count, at most the length.
        """
        self._items[users] = items
        self._clicks[users] = counts

    def append(self, users: Integers, items: Integers) -> None:
        """Adds clicks.

        Args:
            users: [clicks] user numbers, in the order of time.
            items: [clicks] item numbers.
        """
        length = self._items.shape[1]
        order = np.argsort(users, kind="stable")
        users, items = users[order], items[order]
        first = np.r_[True, users[1:] != users[:-1]]
        starts = np.flatnonzero(first)
        # The how-manieth click of its user each click is, from 0.
        nth = np.arange(len(users)) - np.repeat(
            starts, np.diff(np.r_[starts, len(users)])
        )
        # A later click in the same slot of the ring wins: later rounds overwrite.
        for turn in range(int(nth.max(initial=-1)) + 1):
            chosen = nth == turn
            who = users[chosen]
            self._items[who, self._clicks[who] % length] = items[chosen]
            self._clicks[who] += 1

    def read(self, users: Integers) -> tuple[Integers, Integers]:
        """Histories of some users, the oldest click first.

        Args:
            users: [rows] user numbers.

        Returns:
            [rows + 1] offsets and the item numbers between them.
        """
        length = self._items.shape[1]
        clicks = self._clicks[users]
        counts = np.minimum(clicks, length)
        offsets = np.r_[0, np.cumsum(counts)]
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        slots = (np.repeat(clicks - counts, counts) + within) % length
        items = self._items[np.repeat(users, counts), slots]
        return offsets, items.astype(np.int64)

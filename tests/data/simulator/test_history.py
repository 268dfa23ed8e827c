"""The rings of clicked items against plain lists."""

import itertools

import numpy as np

from data.simulator.history import Histories


def read(histories: Histories, users: list[int]) -> list[list[int]]:
    offsets, items = histories.read(np.array(users))
    return [items[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def test_keeps_the_last_clicks_of_each_user_in_order() -> None:
    random = np.random.default_rng(0)
    histories, plain = Histories(5, 3), [[] for _ in range(5)]
    for _ in range(30):
        count = int(random.integers(0, 12))
        users, items = random.integers(0, 5, count), random.integers(0, 100, count)
        histories.append(users, items)
        for user, item in zip(users.tolist(), items.tolist(), strict=True):
            plain[user].append(item)
        rows = [4, 0, 0, 3, 1, 2]
        assert read(histories, rows) == [plain[user][-3:] for user in rows]


def test_seeded_clicks_come_first_and_fall_out_first() -> None:
    histories = Histories(3, 3)
    histories.seed(np.array([0, 2]), np.array([[1, 2, 3], [4, 5, 6]]), np.array([3, 2]))
    assert read(histories, [0, 1, 2]) == [[1, 2, 3], [], [4, 5]]
    histories.append(np.array([2, 0, 2]), np.array([7, 8, 9]))
    assert read(histories, [0, 1, 2]) == [[2, 3, 8], [], [5, 7, 9]]


def test_no_rows_no_items() -> None:
    histories = Histories(2, 3)
    histories.append(np.empty(0, np.int64), np.empty(0, np.int64))
    assert read(histories, [0, 1]) == [[], []]
    offsets, items = histories.read(np.empty(0, np.int64))
    assert offsets.tolist() == [0]
    assert items.size == 0

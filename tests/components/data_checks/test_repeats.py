"""Equal rows are counted exactly."""

from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.data_checks import repeats
from components.data_checks.config import DataChecksConfig
from components.data_checks.equal_rows import repeat_findings
from components.data_checks.repeats import RepeatCounter, Repeats

ROWS = st.lists(st.sampled_from([b"", b"a", b"b", b"c", b"a\0", b"dd"]), max_size=12)


def count(**splits):
    with RepeatCounter(splits) as counter:
        for name, batches in splits.items():
            for batch in batches:
                counter.add(name, batch)
        return counter.count()


@given(train=st.lists(ROWS, max_size=3), evaluated=st.lists(ROWS, max_size=3))
@settings(deadline=None, max_examples=40)
def test_counts_equal_those_of_a_counter(train, evaluated):
    found = count(train=train, eval=evaluated)
    rows = {"train": list(chain(*train)), "eval": list(chain(*evaluated))}
    for name, part in rows.items():
        seen = Counter(part)
        assert found[name].rows == len(part)
        assert found[name].repeated == sum(times - 1 for times in seen.values())
    known = set(rows["train"])
    assert found["train"].in_train == 0
    assert found["eval"].in_train == sum(row in known for row in rows["eval"])


def test_rows_spread_over_partitions_are_all_counted():
    train = [b"%d" % (number % 3000) for number in range(5000)]
    evaluated = [b"%d" % number for number in range(2000, 4000)]
    validated = [b"%d" % number for number in range(9000, 9010)]
    found = count(
        train=[train[:700], train[700:]], validate=[validated], eval=[evaluated]
    )
    assert found == {
        "train": Repeats(5000, 2000, 0),
        "validate": Repeats(10, 0, 0),
        "eval": Repeats(2000, 0, 1000),
    }


def test_equal_first_halves_of_hashes_are_told_apart(monkeypatch):
    class Digest:
        def __init__(self, row, digest_size):
            self.row = row

        def digest(self):
            return b"\0" * 8 + self.row.rjust(8, b"\0")

    monkeypatch.setattr(repeats.hashlib, "blake2b", Digest)
    assert count(train=[[b"a", b"b", b"a"]]) == {"train": Repeats(3, 1, 0)}


def test_no_file_is_left():
    with RepeatCounter(["train"]) as counter:
        counter.add("train", [b"a"])
        folder = Path(counter._folder.name)
        assert list(folder.iterdir())
    assert not folder.exists()


@pytest.mark.parametrize(
    ("keys", "status"), [({}, "warn"), ({"timestamp": "ts"}, "fail")]
)
def test_overlap_fails_where_rows_have_a_time(declare, keys, status):
    dataset = declare({"name": "item", "kind": "categorical", "buckets": 9}, **keys)
    rows = {"train": Repeats(1000, 10, 0), "eval": Repeats(1000, 11, 2)}
    found = list(repeat_findings(rows, None, DataChecksConfig(), dataset))
    assert [(one.check, one.place, one.found, one.status) for one in found] == [
        ("duplicates", "train", 0.01, "pass"),
        ("duplicates", "eval", 0.011, "warn"),
        ("overlap", "eval and train", 0.002, status),
    ]


def test_an_impression_written_twice_is_found_by_its_request_id(declare):
    dataset = declare(
        {"name": "item", "kind": "categorical", "buckets": 9}, request_id="rid"
    )
    rows = {"train": Repeats(100, 0, 0), "eval": Repeats(100, 0, 0)}
    requests = {"train": Repeats(100, 1, 0), "eval": Repeats(100, 0, 5)}
    config = DataChecksConfig.model_validate(
        {"duplicates": {"level": "off"}, "overlap": {"level": "off"}}
    )
    found = list(repeat_findings(rows, requests, config, dataset))
    assert [(one.subject, one.place, one.found, one.status) for one in found] == [
        ("rid", "train", 0.01, "warn"),
        ("rid", "eval", 0.0, "pass"),
        ("rid", "eval and train", 0.05, "warn"),
    ]

"""Features that tell the label by themselves."""

import numpy as np
import pytest

from components.data_checks.config import Leakage
from components.data_checks.leakage import MIN_EACH, leakage_findings, tied_auc

FEATURES = (
    {"name": "item", "kind": "categorical", "buckets": 99},
    {"name": "price", "kind": "numeric"},
)


def rows(count, seed, **leaks):
    random = np.random.default_rng(seed)
    made = []
    for click in (random.random(count) < 0.4).astype(int).tolist():
        row = {"click": click, "item": b"%d" % random.integers(5), "price": 1.0}
        row["price"] = float(random.normal())
        made.append(row | {name: leak(click) for name, leak in leaks.items()})
    return made


def auc_by_pairs(scores, labels):
    clicked = [s for s, y in zip(scores, labels, strict=True) if y]
    others = [s for s, y in zip(scores, labels, strict=True) if not y]
    wins = [(c > o) + (c == o) / 2 for c in clicked for o in others]
    return sum(wins) / len(wins)


def test_auc_of_tied_scores_equals_that_over_all_pairs():
    random = np.random.default_rng(0)
    scores = random.integers(0, 4, 9) / 2
    counted = random.integers(0, 3, (2, 9))
    each = [
        (score, label)
        for label in (0, 1)
        for score, times in zip(scores, counted[label], strict=True)
        for _ in range(times)
    ]
    expected = auc_by_pairs(*zip(*each, strict=True))
    assert tied_auc(scores, counted) == pytest.approx(expected)


def test_unrelated_features_pass(declare, tally_of):
    tally = tally_of(declare(*FEATURES), rows(800, 1), rows(400, 2))
    found = list(leakage_findings(tally, Leakage()))
    assert {one.subject for one in found} == {"item", "price"}
    assert {one.status for one in found} == {"pass"}
    # Five standard deviations of an AUC without any relation, some 160 clicks of 400.
    assert all(one.found == pytest.approx(0.5, abs=5 * 0.03) for one in found)


@pytest.mark.parametrize(
    ("name", "leak"),
    [
        ("item", lambda click: b"bought" if click else b"seen"),
        ("price", lambda click: 2.5 - click),
        ("price", lambda click: 7.0 if click else None),
        ("price", lambda click: None if click else 7.0),
    ],
)
def test_a_feature_made_from_the_label_is_named(declare, tally_of, name, leak):
    leaks = {name: leak}
    tally = tally_of(declare(*FEATURES), rows(200, 1, **leaks), rows(100, 2, **leaks))
    first, second = leakage_findings(tally, Leakage(level="fail"))
    assert (first.subject, first.found, first.status) == (name, 1.0, "fail")
    assert second.status == "pass"


def test_ids_that_were_learned_by_heart_do_not_leak(declare, tally_of):
    dataset = declare(*FEATURES)
    train, evaluated = rows(300, 1), rows(300, 2)
    for number, row in enumerate(train + evaluated):
        row["item"] = b"id-%d" % number
    item = {
        one.subject: one
        for one in leakage_findings(tally_of(dataset, train, evaluated), Leakage())
    }["item"]
    # New ids get the mean rate; a few share a code with a known one.
    assert item.found == pytest.approx(0.5, abs=0.05)


def test_few_clicks_tell_nothing(declare, tally_of):
    evaluated = [
        {"click": int(i < MIN_EACH - 1), "price": float(-i)} for i in range(90)
    ]
    tally = tally_of(declare(*FEATURES), rows(50, 1), evaluated)
    (found,) = leakage_findings(tally, Leakage())
    assert found.status == "skipped"
    assert f"{MIN_EACH - 1} clicks and {91 - MIN_EACH} others" in found.text

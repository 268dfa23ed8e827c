"""Holm's levels against the closed test of all intersections, by hand and at random."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.holm import holm_levels


def rejected(p_values, level=0.05):
    levels = holm_levels(p_values, level)
    return [p <= share for p, share in zip(p_values, levels, strict=True)]


def closed_bonferroni(p_values, level):
    """A hypothesis falls when Bonferroni rejects every intersection it is part of."""
    indexes = range(len(p_values))
    subsets = [
        subset
        for size in range(1, len(p_values) + 1)
        for subset in itertools.combinations(indexes, size)
    ]
    return [
        all(
            min(p_values[i] for i in subset) <= level / len(subset)
            for subset in subsets
            if index in subset
        )
        for index in indexes
    ]


@pytest.mark.parametrize(
    ("p_values", "levels"),
    [
        ([], []),
        ([0.04], [0.05]),
        # 0.01 <= 0.05 / 3, then 0.04 > 0.05 / 2: the others keep that share.
        ([0.04, 0.01, 0.9], [0.025, 0.05 / 3, 0.025]),
        # 0.02 > 0.05 / 3: nothing falls, Bonferroni for all.
        ([0.02, 0.03, 0.04], [0.05 / 3] * 3),
        # All fall, one after the other.
        ([0.01, 0.02, 0.05], [0.05 / 3, 0.025, 0.05]),
        # Equal p-values share a rank: two at 0.05 / 3, the last at 0.05.
        ([0.01, 0.01, 0.03], [0.05 / 3, 0.05 / 3, 0.05]),
    ],
)
def test_levels_step_down(p_values, levels):
    assert holm_levels(p_values, 0.05) == pytest.approx(levels)


@given(st.lists(st.integers(0, 100).map(lambda n: n / 1000), max_size=6))
def test_holm_rejects_what_the_closed_test_rejects(p_values):
    # Holm is a shortcut of that test; thousandths keep shares off the p-values' last bit.
    close = [
        abs(p - 0.05 / k) < 1e-12 for p in p_values for k in range(1, len(p_values) + 1)
    ]
    if not any(close):
        assert rejected(p_values) == closed_bonferroni(p_values, 0.05)


@given(st.lists(st.floats(0, 1), max_size=8), st.randoms())
def test_the_level_of_a_p_value_does_not_depend_on_the_order(p_values, random):
    levels = dict(zip(p_values, holm_levels(p_values, 0.05), strict=True))
    shuffled = list(p_values)
    random.shuffle(shuffled)
    assert holm_levels(shuffled, 0.05) == [levels[p] for p in shuffled]

"""Distance of two distributions over codes, and what chance alone makes of it."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from components.data_checks.codes import ABSENT
from data.arrays import Floats, Ints

BINS = 20
# Expected draws in a cell from which its count is near enough to normal for the
# chi-squared distribution (Cochran 1954, Some methods for strengthening the common
# chi-squared tests).
MIN_EXPECTED = 5


@dataclass(frozen=True)
class Divergence:
    """Jensen-Shannon divergence in bits, 0 for equal and 1 for disjoint.

    Attributes:
        bits: as measured.
        chance: what equal distributions exceed with the stated probability.
        code: the code whose share of rows changed most; None if it is a cell of many.
        shares: of that cell, before and after.
    """

    bits: float
    chance: float
    code: int | None
    shares: tuple[float, float]


def divergence(
    before: Ints,
    after: Ints,
    draws: tuple[float, float],
    *,
    ordered: bool,
    alpha: float,
) -> Divergence:
    """Compares two samples.

    For samples of n and m draws from one distribution with K cells, twice the logarithm
    of the likelihood ratio tends to chi-squared with K - 1 degrees of freedom (Wilks
    1938). To second order it is ``8 ln 2 * n m / (n + m)`` times the divergence in bits,
    with equal weights of both samples as TFDV has them. Cells are made of both samples
    together, so that their choice favours neither.

    Args:
        before: [codes] rows; at least one.
        after: [codes] rows; at least one.
        draws: independent draws that each of them stands for.
        ordered: True for numbers, which go into cells of neighbours.
        alpha: probability to exceed ``chance``.

    Returns:
        The divergence.
    """
    pooled = before.astype(np.int64) + after
    cells = _cells(pooled, min(draws), ordered)
    count = int(cells.max()) + 1
    p, q = (
        np.bincount(cells, weights=rows, minlength=count) / rows.sum()
        for rows in (before, after)
    )
    n, m = draws
    quantile = float(chi2.isf(alpha, count - 1)) if count > 1 else 0.0
    most = int(np.argmax(np.abs(p - q)))
    members = np.flatnonzero((cells == most) & (pooled > 0))
    return Divergence(
        bits=jensen_shannon(p, q),
        chance=quantile * (n + m) / (8 * math.log(2) * n * m),
        code=int(members[0]) if len(members) == 1 else None,
        shares=(float(p[most]), float(q[most])),
    )


def jensen_shannon(p: Floats, q: Floats) -> float:
    """Jensen-Shannon divergence in bits of two distributions, [cells] each.

    References:
        Lin, 1991, Divergence measures based on the Shannon entropy.
    """
    middle = (p + q) / 2
    total = 0.0
    for one in (p, q):
        held = one > 0
        total += float(np.sum(one[held] * np.log2(one[held] / middle[held]))) / 2
    return max(total, 0.0)


def _cells(pooled: Ints, draws: float, ordered: bool) -> Ints:
    """Cell of each code, [codes].

    Args:
        pooled: [codes] rows of both samples.
        draws: of the smaller sample.
        ordered: whether neighbours share a cell.
    """
    is_large = pooled / pooled.sum() * draws >= MIN_EXPECTED
    if ordered:
        # Cells of equal mass; the absent values stay apart if they are many.
        bins = min(BINS, max(1, int(draws // MIN_EXPECTED)))
        middle = np.cumsum(pooled) - pooled / 2
        keys = (middle / pooled.sum() * bins).astype(np.int64)
        if is_large[ABSENT]:
            keys[ABSENT] = bins
    else:
        keys = np.where(is_large, np.arange(len(pooled)), -1)
    # A code without rows makes no cell of its own.
    keys = np.where(pooled > 0, keys, keys[np.argmax(pooled)])
    _, cells = np.unique(keys, return_inverse=True)
    flat: Ints = cells.reshape(-1)
    return flat

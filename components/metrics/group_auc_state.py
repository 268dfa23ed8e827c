"""What ``GroupAUC`` says about its value, and the interval while it samples users."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from components.metrics.intervals import t_interval

Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class GroupAUCState:
    """GAUC and how far it can be trusted.

    Attributes:
        value: GAUC, NaN if no user has both a click and a non-click.
        exact: whether every row so far is in it.
        sampled_share: chance of a user to be in the sample; 1 if exact.
        users_scored: users that have an AUC.
        excluded_users: users of the sample with more rows than their part of the
            table; 0 if exact.
        rows_without_user: rows with a negative id, which take no part.
        interval: 95 % interval for the GAUC of all users but the excluded ones; None
            if exact, and with fewer than five effective users.
    """

    value: float
    exact: bool
    sampled_share: float
    users_scored: int
    excluded_users: int
    rows_without_user: int
    interval: tuple[float, float] | None


def sampling_interval(
    value: float, auc: Floats, mass: Floats, share: float
) -> tuple[float, float] | None:
    """Interval of a GAUC from a sample of users.

    The delta method for a ratio: e_u = m_u (AUC_u - GAUC) / M. Users are in the sample
    independently with one chance, so the variance is that of an endless population
    times 1 less that chance.

    Args:
        value: GAUC of the sample.
        auc: float64 [users].
        mass: float64 [users], weight of each user in GAUC; 0 where AUC is undefined.
        share: chance of a user to be in the sample.

    Returns:
        95 % interval for the GAUC of all users, which is the value itself at a share of
        1; None with fewer than five effective users.

    References:
        Saerndal, Swensson, Wretman, Model assisted survey sampling, 1992, sections 3.2
        and 5.6.
    """
    if math.isnan(value):
        return None
    if share == 1.0:
        return value, value
    squares = np.square(mass * (auc - value) / max(mass.sum(), 1e-300))
    fourths = float(np.square(squares).sum())
    effective = float(squares.sum()) ** 2 / fourths if fourths > 0 else 0.0
    if effective <= 1.0:
        return None
    variance = float(squares.sum()) * effective / (effective - 1.0) * (1.0 - share)
    return t_interval(value, math.sqrt(variance), effective)

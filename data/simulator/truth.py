"""GAUC without label noise, for a log whose true probabilities are known."""

import numpy as np
import numpy.typing as npt


def expected_gauc(
    user_codes: npt.ArrayLike,
    scores: npt.ArrayLike,
    true_probability: npt.ArrayLike,
) -> float | None:
    """GAUC in which pairs count by the probability that one row is a click, one not.

    For user u with rows i, scores s and true probabilities p::

        AUC_u = sum_{i != j} p_i (1 - p_j) ([s_i > s_j] + [s_i = s_j] / 2)
                / sum_{i != j} p_i (1 - p_j)
        GAUC  = sum_u rows_u AUC_u / sum_u rows_u

    Users with a single row, or without a pair of positive weight, are left out. The
    scores ``p`` themselves reach the highest value that any scores can.

    Args:
        user_codes: [rows] integers that tell users apart.
        scores: [rows] numbers; only their order inside a user counts.
        true_probability: [rows] probabilities of a click, in [0, 1].

    Returns:
        The expected GAUC, or None if no user has a pair: it is undefined then.

    Raises:
        ValueError: lengths differ, a score is not a number, or a probability lies
            outside [0, 1].
    """
    users = np.asarray(user_codes)
    values = np.asarray(scores, np.float64)
    clicks = np.asarray(true_probability, np.float64)
    _check(users, values, clicks)
    if len(users) == 0:
        return None
    order = np.lexsort((values, users))
    users, values, clicks = users[order], values[order], clicks[order]
    skips = 1.0 - clicks

    new_user = np.r_[True, users[1:] != users[:-1]]
    new_tie = new_user | np.r_[True, values[1:] != values[:-1]]
    user_starts, tie_starts = np.flatnonzero(new_user), np.flatnonzero(new_tie)
    # Which user each group of equal scores belongs to, and where users start in ties.
    tie_user = (np.cumsum(new_user) - 1)[tie_starts]
    first_tie = np.flatnonzero(new_user[tie_starts])

    tie_clicks = np.add.reduceat(clicks, tie_starts)
    tie_skips = np.add.reduceat(skips, tie_starts)
    # A row makes no pair with itself.
    tie_self = np.add.reduceat(clicks * skips, tie_starts)
    below = np.cumsum(tie_skips) - tie_skips
    below -= below[first_tie][tie_user]
    won = tie_clicks * below + 0.5 * (tie_clicks * tie_skips - tie_self)

    numerator = np.add.reduceat(won, first_tie)
    user_clicks = np.add.reduceat(clicks, user_starts)
    user_skips = np.add.reduceat(skips, user_starts)
    user_self = np.add.reduceat(clicks * skips, user_starts)
    denominator = user_clicks * user_skips - user_self
    rows = np.diff(np.r_[user_starts, len(users)])
    # What is left of the subtraction when no pair has weight is rounding.
    scored = (rows > 1) & (denominator > 1e-12 * user_clicks * user_skips)
    if not scored.any():
        return None
    ratios = numerator[scored] / denominator[scored]
    return float(np.average(ratios, weights=rows[scored]))


def _check(
    users: npt.NDArray[np.generic],
    scores: npt.NDArray[np.float64],
    probabilities: npt.NDArray[np.float64],
) -> None:
    """Refuses columns that do not fit together."""
    if not users.shape == scores.shape == probabilities.shape or users.ndim != 1:
        raise ValueError(
            "user_codes, scores and true_probability must be columns of one length, "
            f"got shapes {users.shape}, {scores.shape} and {probabilities.shape}"
        )
    unordered = np.flatnonzero(np.isnan(scores))
    if unordered.size:
        raise ValueError(f"scores must be numbers, got NaN in row {unordered[0]}")
    outside = np.flatnonzero(~((probabilities >= 0.0) & (probabilities <= 1.0)))
    if outside.size:
        raise ValueError(
            "true_probability must lie in [0, 1], got "
            f"{probabilities[outside[0]]} in row {outside[0]}"
        )

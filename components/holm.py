"""Many tests at once: the level at which each is held so that all together keep one."""

from collections.abc import Sequence


def holm_levels(p_values: Sequence[float], level: float) -> list[float]:
    """Levels of the step-down procedure of Holm.

    The smallest of m p-values is held against level / m, the next against
    level / (m - 1), and so on until one is larger than its share: it and all larger
    ones keep that share. A hypothesis is rejected when its p-value is at most its
    level; the chance of any wrong rejection is then at most ``level``, whatever the
    dependence between the tests.

    Args:
        p_values: one a hypothesis, in any order.
        level: chance of a wrong rejection among all of them.

    Returns:
        The level of each hypothesis; equal p-values have equal levels.

    References:
        Holm, A simple sequentially rejective multiple test procedure, Scandinavian
        Journal of Statistics 6, 1979.
    """
    rejected: dict[float, float] = {}
    left = len(p_values)
    for p_value in sorted(set(p_values)):
        share = level / left
        if p_value > share:
            break
        rejected[p_value] = share
        left -= p_values.count(p_value)
    rest = level / max(left, 1)
    return [rejected.get(p_value, rest) for p_value in p_values]

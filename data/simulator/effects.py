"""Effects of columns and of their crosses on the logit of a click."""

from dataclasses import dataclass

import numpy as np

from data.simulator import exact
from data.simulator.exact import Floats
from data.simulator.population import (
    AGE_BUCKETS,
    CATEGORIES,
    DEVICES,
    POSITION_SHARES,
)

# Six parts of the day of four hours each.
HOURS_PER_DAY_PART = 4
DAY_PARTS = 24 // HOURS_PER_DAY_PART


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Effects by code, before they are scaled.

    Attributes:
        category, device, day_part, position: [codes].
        category_device, category_age, category_day_part: [categories, codes], without
            main effects.
    """

    category: Floats
    device: Floats
    day_part: Floats
    position: Floats
    category_device: Floats
    category_age: Floats
    category_day_part: Floats


def draw_tables(random: np.random.Generator) -> Tables:
    """Draws the effects by code.

    Args:
        random: where to draw from.

    Returns:
        The effects, not yet scaled.
    """
    categories = len(CATEGORIES)
    return Tables(
        category=exact.normal(random, (categories,)),
        device=exact.normal(random, (len(DEVICES),)),
        day_part=exact.normal(random, (DAY_PARTS,)),
        # The first place is seen by all; each further one by fewer.
        position=1.0 / np.arange(1.0, len(POSITION_SHARES) + 1),
        category_device=_interaction(random, categories, len(DEVICES)),
        category_age=_interaction(random, categories, len(AGE_BUCKETS)),
        category_day_part=_interaction(random, categories, DAY_PARTS),
    )


def _interaction(random: np.random.Generator, rows: int, columns: int) -> Floats:
    """[rows, columns] effects of which every row and every column adds up to 0."""
    table = exact.normal(random, (rows, columns))
    table = table - np.cumsum(table, axis=1)[:, -1:] / columns
    return table - np.cumsum(table, axis=0)[-1:, :] / rows

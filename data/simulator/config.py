"""What to simulate."""

import pydantic

from data.settings import Settings

# Monday 2025-01-06 00:00:00 UTC.
START_SECONDS = 1_736_121_600
HOUR_SECONDS = 3_600
DAY_SECONDS = 86_400


def _strength(default: float, description: str) -> float:
    """A standard deviation on the logit scale."""
    field: float = pydantic.Field(
        default, ge=0, le=5, allow_inf_nan=False, description=description
    )
    return field


class SimulatorConfig(Settings):
    """Size of the log, its seed, and the strength of what drives clicks.

    Strengths are standard deviations on the logit scale over the rows of the log. With
    the defaults the true probability has an expected GAUC of about 0.73 (0.72 on the
    last day), and the best single column goes about a third of the way there from 0.5.
    """

    rows: int = pydantic.Field(
        320_000, ge=1, le=10**12, description="Impressions in all."
    )
    users: int = pydantic.Field(
        20_000,
        ge=1,
        le=10**7,
        description="Users; each is seen if there are twice as many rows.",
    )
    items: int = pydantic.Field(
        300,
        ge=20,
        le=100_000,
        description="Items; a quarter of them are born while the log runs.",
    )
    days: int = pydantic.Field(
        8, ge=1, le=3_650, description="Days from Monday 2025-01-06 00:00 UTC."
    )
    seed: int = pydantic.Field(
        0, ge=0, lt=2**63, description="Equal seeds give equal rows."
    )
    history_length: int = pydantic.Field(
        20, ge=1, le=1_000, description="Most items in a history; older ones fall out."
    )
    click_rate: float = pydantic.Field(
        0.055, gt=0, lt=0.5, description="Expected share of clicks."
    )
    user_std: float = _strength(0.5, "Base rate of a user.")
    item_std: float = _strength(0.3, "Quality, freshness and price of an item.")
    position_std: float = _strength(0.33, "Place on the page.")
    cross_std: float = _strength(
        0.45, "Sum of category x device, category x age bucket, category x hour."
    )
    taste_std: float = _strength(
        0.65, "User vector times item vector, neither of which is in the log."
    )

"""Settings of the data checks: a level and a limit each."""

from typing import Annotated, Literal

import pydantic

from data.settings import Settings

Level = Literal["off", "warn", "fail"]
Share = Annotated[float, pydantic.Field(ge=0, le=1)]


class Rule(Settings):
    """One check: what happens where it finds more than its limit."""

    level: Level = "warn"
    limit: float


class Presence(Rule):
    """Share of rows that have a value of a column."""

    # A column that fewer rows have teaches a model next to nothing.
    limit: Share = pydantic.Field(0.01, description="Least share of rows with a value.")


class Unseen(Rule):
    """Evaluated values that no training row has, where the schema has no domain."""

    # New items come every day; a column that was recoded loses nearly all its values.
    limit: Share = pydantic.Field(
        0.2,
        description="Largest share of evaluated rows beyond what chance explains.",
    )


class Outside(Rule):
    """Ids that an ``identity`` encoding has no bucket for; a model sees them absent."""

    limit: Share = pydantic.Field(
        0.0, description="Largest share of values outside 0 to buckets - 1."
    )


class Shift(Rule):
    """Jensen-Shannon divergence of a column between two sets of rows."""

    # About a population stability index of 0.25, which credit scoring calls a major
    # change (Siddiqi 2006, Credit Risk Scorecards).
    limit: Share = pydantic.Field(
        0.05, description="Largest divergence in bits beyond what chance explains."
    )


class ClickRate(Rule):
    """Click rate of a day, and of the evaluated rows, against that of training rows."""

    limit: float = pydantic.Field(
        0.3, ge=0, description="Largest relative change beyond what chance explains."
    )


class Leakage(Rule):
    """AUC of one feature alone, on the evaluated rows."""

    # Click models with all features together reach 0.7 to 0.85.
    limit: float = pydantic.Field(
        0.95, ge=0.5, le=1, description="AUC from which a feature is suspect."
    )


class Duplicates(Rule):
    """Rows of a split that are equal to an earlier one in all columns."""

    limit: Share = pydantic.Field(0.01, description="Largest share of repeated rows.")


class Overlap(Settings):
    """Held-out rows that are equal to a training row in all columns."""

    level: Level | None = pydantic.Field(
        None,
        description=(
            "If unset, fail where rows have a timestamp or a request id, else warn: "
            "without them two impressions can be equal."
        ),
    )
    # Of a log read twice nearly all rows overlap; of a sound one hardly any.
    limit: Share = pydantic.Field(0.001, description="Largest share of held-out rows.")

    def rule(self, told_apart: bool) -> Rule:
        """The rule for rows that can, or cannot, be told apart."""
        default: Level = "fail" if told_apart else "warn"
        return Rule(level=self.level or default, limit=self.limit)


class RequestIds(Rule):
    """Request ids that come again, in a split or in a held-out one after training."""

    limit: Share = pydantic.Field(0.001, description="Largest share of rows.")


class DataChecksConfig(Settings):
    """What rows must be like before a model learns from them."""

    enabled: bool = True
    presence: Presence = Presence()
    unseen: Unseen = Unseen()
    outside: Outside = Outside()
    skew: Shift = pydantic.Field(
        Shift(), description="Training rows against evaluated ones."
    )
    drift: Shift = pydantic.Field(
        Shift(), description="Last day of the training rows against the days before."
    )
    click_rate: ClickRate = ClickRate()
    leakage: Leakage = Leakage()
    duplicates: Duplicates = Duplicates()
    overlap: Overlap = Overlap()
    request_ids: RequestIds = RequestIds()

"""Gates as a configuration declares them; imports nothing heavy."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeVar

import pydantic

from components.metrics.names import METRICS
from data.errors import suggest
from data.settings import Columns, Settings

# A bound of NaN holds for nothing, and `true` or "0.1" is a slip.
Bound = Annotated[float, pydantic.Field(strict=True, allow_inf_nan=False)]

# PCOP is best at 1, so it has no direction; closeness to 1 is abs_log_pcop.
HIGHER_IS_BETTER = {
    "gauc": True,
    "auc": True,
    "pr_auc": True,
    "log_loss": False,
    "normalized_entropy": False,
    "ece": False,
    "abs_log_pcop": False,
}


# Metrics whose change has no direction, or no interval that could decide.
NOT_BY_INTERVAL = {
    "pcop": "pcop is best at 1, so neither direction is better; use abs_log_pcop",
    "pr_auc": "its change has no interval; use auc, or pr_auc.min_change",
    "ece": "its change has no interval; use abs_log_pcop, or ece.max_change",
}


class ChangeBounds(Settings):
    """Bounds on candidate less the model it is compared with; a bound itself passes."""

    KINDS: ClassVar[tuple[str, ...]] = ("min_change", "max_change", "non_inferior")

    min_change: Bound | None = pydantic.Field(
        None, description="Least value of candidate less baseline."
    )
    max_change: Bound | None = pydantic.Field(
        None, description="Largest value of candidate less baseline."
    )
    non_inferior: Annotated[Bound, pydantic.Field(ge=0)] | None = pydantic.Field(
        None,
        description=(
            "Largest loss against the baseline, held against the one-sided 95 % end of "
            "the paired interval: passes once a larger loss is ruled out."
        ),
    )

    def given(self) -> dict[str, float]:
        """The bounds that are set, by kind."""
        kinds = {kind: getattr(self, kind) for kind in self.KINDS}
        return {kind: bound for kind, bound in kinds.items() if bound is not None}

    @pydantic.model_validator(mode="after")
    def _in_order(self) -> "ChangeBounds":
        given = self.given()
        if not given:
            raise ValueError(f"needs one of {', '.join(self.KINDS)}")
        for low, high in (("min", "max"), ("min_change", "max_change")):
            if low in given and high in given and given[low] > given[high]:
                raise ValueError(
                    f"lower bound {given[low]} is above upper bound {given[high]}"
                )
        return self


class Bounds(ChangeBounds):
    """Bounds of one metric; a bound itself passes."""

    KINDS: ClassVar[tuple[str, ...]] = ("min", "max", *ChangeBounds.KINDS)

    min: Bound | None = pydantic.Field(None, description="Least value.")
    max: Bound | None = pydantic.Field(None, description="Largest value.")


BoundsT = TypeVar("BoundsT", bound=Mapping[str, ChangeBounds])


def _known_metrics(metrics: BoundsT) -> BoundsT:
    """Refuses names that are no metric, and directions of a metric without one."""
    for name, bounds in metrics.items():
        if name not in METRICS:
            raise ValueError(
                f"unknown metric '{name}'. Known: {', '.join(METRICS)}."
                f"{suggest(name, METRICS)}"
            )
        remedy = NOT_BY_INTERVAL.get(name)
        if bounds.non_inferior is not None and remedy is not None:
            raise ValueError(f"{name}.non_inferior: {remedy}")
        if name == "abs_log_pcop" and "min" in bounds.given():
            raise ValueError(f"{name}.min: 0 is best; use max")
    return metrics


class SliceGates(Settings):
    """Bounds that every large enough slice of some features must keep."""

    slice: Columns = pydantic.Field(
        min_length=1, description="Features of the slice, in any order."
    )
    metrics: dict[str, Bounds] = pydantic.Field(min_length=1)
    min_rows: int = pydantic.Field(0, ge=0, description="Smaller slices do not count.")
    # The standard deviation of PCOP is about 1 / sqrt(clicks): 10 % at 100 clicks.
    min_clicks: int = pydantic.Field(
        100, ge=0, description="Slices with fewer clicks do not count."
    )
    fail_undefined: bool = pydantic.Field(
        False, description="An undefined metric fails; else that slice is passed over."
    )
    allow_undecided: bool = pydantic.Field(
        False, description="What the data cannot decide in these slices still blesses."
    )

    _known = pydantic.field_validator("metrics")(_known_metrics)


class GatesConfig(Settings):
    """What a model must keep to be blessed. Without any gate, none is blessed."""

    overall: dict[str, Bounds] = pydantic.Field(
        {}, description="Bounds by metric over all rows."
    )
    allow_undecided: bool = pydantic.Field(
        False, description="What the data cannot decide over all rows still blesses."
    )
    slices: tuple[SliceGates, ...] = ()
    reference: dict[str, ChangeBounds] = pydantic.Field(
        {},
        description=(
            "Bounds by metric over all rows on candidate less evaluate.reference."
        ),
    )
    reference_allow_undecided: bool = pydantic.Field(
        False, description="What the data cannot decide there still blesses."
    )
    bless_first: bool = pydantic.Field(
        False,
        description=(
            "Bless the first model though no check can be made without a baseline."
        ),
    )

    _known = pydantic.field_validator("overall", "reference")(_known_metrics)

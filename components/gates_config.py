"""Gates as a configuration declares them; imports nothing heavy."""

from typing import Annotated

import pydantic

from components.metrics.names import METRICS
from data.errors import suggest
from data.settings import Settings

# A bound of NaN holds for nothing, and `true` or "0.1" is a slip.
Bound = Annotated[float, pydantic.Field(strict=True, allow_inf_nan=False)]


class Bounds(Settings):
    """Bounds of one metric; a bound itself passes."""

    min: Bound | None = pydantic.Field(None, description="Least value.")
    max: Bound | None = pydantic.Field(None, description="Largest value.")
    min_change: Bound | None = pydantic.Field(
        None, description="Least value of candidate less baseline."
    )
    max_change: Bound | None = pydantic.Field(
        None, description="Largest value of candidate less baseline."
    )

    @pydantic.model_validator(mode="after")
    def _in_order(self) -> "Bounds":
        pairs = ((self.min, self.max), (self.min_change, self.max_change))
        if all(bound is None for pair in pairs for bound in pair):
            raise ValueError("needs one of min, max, min_change, max_change")
        for low, high in pairs:
            if low is not None and high is not None and low > high:
                raise ValueError(f"lower bound {low} is above upper bound {high}")
        return self


def _known_metrics(metrics: dict[str, Bounds]) -> dict[str, Bounds]:
    """Refuses names that are no metric."""
    for name in metrics:
        if name not in METRICS:
            raise ValueError(
                f"unknown metric '{name}'. Known: {', '.join(METRICS)}."
                f"{suggest(name, METRICS)}"
            )
    return metrics


class SliceGates(Settings):
    """Bounds that every large enough slice of some features must keep."""

    slice: tuple[str, ...] = pydantic.Field(
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

    _known = pydantic.field_validator("metrics")(_known_metrics)


class GatesConfig(Settings):
    """What a model must keep to be blessed. Without any gate, none is blessed."""

    overall: dict[str, Bounds] = pydantic.Field(
        {}, description="Bounds by metric over all rows."
    )
    slices: tuple[SliceGates, ...] = ()

    _known = pydantic.field_validator("overall")(_known_metrics)

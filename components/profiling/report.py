"""What a profile found, as plain values."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from components.profiling.advice import Tried
from components.profiling.timing import Cost
from components.profiling.training import LoopCost
from components.profiling.verdict import Verdict


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecipeCost:
    """Reading by the published recipe and as the training does.

    Attributes:
        rows: that both read.
        recipe: the recipe, in the order of the files.
        ours: the training's reader, shuffling included.
    """

    rows: int
    recipe: Cost
    ours: Cost

    @property
    def ratio(self) -> float:
        """Processor time of the recipe over that of the training's reader."""
        return self.recipe.cpu_us / self.ours.cpu_us


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProfileReport:
    """What a profile found; costs are of an example.

    Attributes:
        rows: of the train split.
        sample_rows: those that were measured on.
        batch_size: rows of a batch.
        cores: that this process may use.
        accelerator: its name, None where there is none.
        stages: of reading, in order.
        reading: all stages together, as the training does them.
        copy: to the accelerator, None where there is none.
        step: forward, backward and update on a batch in memory.
        loop: the training loop.
        verdict: what bounds it.
        tried: all changes that were measured.
        advice: those that help, the best first.
        recipe: the comparison, if it was asked for.
    """

    rows: int
    sample_rows: int
    batch_size: int
    cores: int
    accelerator: str | None
    stages: Mapping[str, Cost]
    reading: Cost
    copy: Cost | None
    step: Cost
    loop: LoopCost
    verdict: Verdict
    tried: tuple[Tried, ...]
    advice: tuple[Tried, ...]
    recipe: RecipeCost | None

    def to_json(self) -> dict[str, Any]:
        """Everything as values that JSON can hold."""
        return {
            **dataclasses.asdict(self),
            "loop": {
                **dataclasses.asdict(self.loop),
                "examples_per_second": self.loop.examples_per_second,
            },
            "tried": [one.to_json() for one in self.tried],
            "advice": [one.to_json() for one in self.advice],
            "recipe": {**dataclasses.asdict(self.recipe), "ratio": self.recipe.ratio}
            if self.recipe
            else None,
        }

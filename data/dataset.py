"""Declaration of a data set: where rows are, what the columns mean, how to split."""

from typing import Literal

import pydantic

from data.errors import suggest
from data.features import Categorical, Cross, Feature, Sequence
from data.layout import Layout, Split
from data.settings import Settings


class Label(Settings):
    """How a column becomes the label 0 or 1.

    Without a rule the column must hold 0 or 1. With ``divided_by`` the rule looks at
    ``column / divided_by`` (a row whose divisor is 0 gets label 0).
    """

    column: str
    at_least: float | None = pydantic.Field(None, description="1 where value >= this.")
    above: float | None = pydantic.Field(None, description="1 where value > this.")
    positive: tuple[str, ...] | None = pydantic.Field(
        None, description="1 where the text is one of these; needs `negative`."
    )
    negative: tuple[str, ...] | None = pydantic.Field(
        None, description="0 where the text is one of these; anything else is refused."
    )
    divided_by: str | None = None

    @property
    def derived(self) -> bool:
        """True if a rule maps the column to the label."""
        return any(
            rule is not None for rule in (self.at_least, self.above, self.positive)
        )

    @pydantic.model_validator(mode="after")
    def _one_rule(self) -> "Label":
        rules = [self.at_least, self.above, self.positive]
        if sum(rule is not None for rule in rules) > 1:
            raise ValueError("give one of at_least, above, positive")
        if (self.positive is None) != (self.negative is None):
            raise ValueError("positive and negative belong together")
        if self.divided_by and self.at_least is None and self.above is None:
            raise ValueError("divided_by needs at_least or above")
        return self


class Timestamp(Settings):
    """Time of the impression, kept as unix seconds (int64, UTC)."""

    column: str
    format: str = pydantic.Field(
        "auto",
        description=(
            "auto (number = unix seconds, text = ISO 8601), unix, unix_ms, iso, or a "
            "strptime pattern such as %y%m%d%H; text without a zone is UTC."
        ),
    )


class Keys(Settings):
    """Columns with a role. All but the label are optional."""

    label: Label
    user_id: str | None = None
    weight: str | None = None
    timestamp: Timestamp | None = None
    request_id: str | None = None

    @pydantic.field_validator("label", "timestamp", mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        return {"column": value} if isinstance(value, str) else value

    @property
    def label_name(self) -> str:
        """Name of the label in shards: the column's, or ``label`` when derived."""
        return "label" if self.label.derived else self.label.column


class Dataset(Settings):
    """Everything about the input: layouts, keys, features, split, bad rows."""

    layouts: tuple[Layout, ...] = pydantic.Field((Layout(),), min_length=1)
    keys: Keys
    split: Split
    features: tuple[Feature, ...] = pydantic.Field(min_length=1)
    carry: tuple[str, ...] = pydantic.Field(
        (), description="Columns kept for evaluation that no feature reads."
    )
    shards: int | None = pydantic.Field(
        None,
        ge=1,
        description="Shards of the train split; by input size when absent.",
    )
    on_bad_row: Literal["refuse", "quarantine"] = "refuse"
    # A hundredth: above it the log is broken as a whole, and the rest of it is not a
    # fair sample either.
    max_bad_fraction: float = pydantic.Field(0.01, ge=0, le=1)

    @pydantic.model_validator(mode="after")
    def _names_fit(self) -> "Dataset":
        names = [feature.name for feature in self.features]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ValueError(f"features[{index}].name: '{name}' declared twice")
        categorical = [f.name for f in self.features if isinstance(f, Categorical)]
        for index, feature in enumerate(self.features):
            if isinstance(feature, Cross):
                wanted, where = feature.features, f"features[{index}].features"
            elif isinstance(feature, Sequence) and feature.vocabulary_of:
                wanted = (feature.vocabulary_of,)
                where = f"features[{index}].vocabulary_of"
            else:
                continue
            for name in wanted:
                if name not in categorical:
                    raise ValueError(
                        f"{where}: no categorical feature '{name}'."
                        f"{suggest(name, categorical)}"
                    )
        label = self.keys.label
        for index, feature in enumerate(self.features):
            if not isinstance(feature, Cross) and feature.source in {
                label.column,
                self.keys.label_name,
            }:
                raise ValueError(
                    f"features[{index}]: reads '{feature.source}', which the label is "
                    "made from; the model would see the answer"
                )
        return self

    @pydantic.model_validator(mode="after")
    def _layouts_fit(self) -> "Dataset":
        keys = self.keys
        required = {keys.label.column, keys.user_id, keys.weight}
        required |= {keys.timestamp.column if keys.timestamp else None}
        for index, layout in enumerate(self.layouts):
            for name in layout.absent:
                if name in required:
                    raise ValueError(
                        f"layouts[{index}].absent: '{name}' is a key, which every row "
                        "needs"
                    )
        for where, split in self._splits():
            if split.by == "time" and keys.timestamp is None:
                raise ValueError(f"{where}: a split by time needs keys.timestamp")
        return self

    def _splits(self) -> "list[tuple[str, Split]]":
        """Every split that is declared, and where."""
        own = [
            (f"layouts[{index}].split", layout.split)
            for index, layout in enumerate(self.layouts)
        ]
        return [(where, split) for where, split in own if split] + [
            ("split", self.split)
        ]

    def feature(self, name: str) -> Feature:
        """Returns the feature of that name."""
        return next(f for f in self.features if f.name == name)

"""Declaration of a data set: where rows are, what the columns mean, how to split."""

from typing import Literal

import pydantic

from data.feature_rules import check_features
from data.features import Feature
from data.keys import Keys
from data.layout import Layout, Split
from data.settings import Settings

# Each shard is an open file of the writer; 10,000 of 128 MiB hold more than a terabyte.
MAX_TRAIN_SHARDS = 10_000


class Dataset(Settings):
    """Everything about the input: layouts, keys, features, split, bad rows."""

    layouts: tuple[Layout, ...] = pydantic.Field(
        (Layout(),),
        min_length=1,
        description="How the files come; the first layout whose files exist is used.",
    )
    keys: Keys = pydantic.Field(description="Columns with a role.")
    split: Split = pydantic.Field(description="Which rows are evaluated.")
    features: tuple[Feature, ...] = pydantic.Field(
        min_length=1, description="What the model reads, one entry an input."
    )
    carry: tuple[str, ...] = pydantic.Field(
        (), description="Columns kept for evaluation that no feature reads."
    )
    ignored: tuple[str, ...] = pydantic.Field(
        (), description="Columns of the log that nothing reads, on purpose."
    )
    shards: int | None = pydantic.Field(
        None,
        ge=1,
        le=MAX_TRAIN_SHARDS,
        description="Shards of the train split; by input size when absent.",
    )
    on_bad_row: Literal["refuse", "quarantine"] = pydantic.Field(
        "refuse",
        description=(
            "refuse: stop at the first bad row. quarantine: put bad rows aside and go "
            "on."
        ),
    )
    # A hundredth: above it the log is broken as a whole, and the rest of it is not a
    # fair sample either.
    max_bad_fraction: float = pydantic.Field(
        0.01, ge=0, le=1, description="Larger shares of bad rows stop the ingest."
    )

    @pydantic.model_validator(mode="after")
    def _features_fit(self) -> "Dataset":
        check_features(self.features, self.keys)
        return self

    @pydantic.model_validator(mode="after")
    def _layouts_fit(self) -> "Dataset":
        keys = self.keys
        required = set(keys.roles().values()) - {keys.request_id}
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
            if split.by == "hash" and keys.label.column in split.columns:
                raise ValueError(
                    f"{where}.columns: '{keys.label.column}' is the label's column, so "
                    "one part would hold all the clicks; split by the user, say"
                )
            if split.has_validation != self.split.has_validation:
                raise ValueError(
                    f"{where}: must have a validation part exactly if split has one; "
                    "a pipeline's splits do not depend on the files it finds"
                )
        return self

    @pydantic.model_validator(mode="after")
    def _named_once(self) -> "Dataset":
        for key in ("carry", "ignored"):
            columns = getattr(self, key)
            for column in columns:
                if columns.count(column) > 1:
                    raise ValueError(f"{key}: '{column}' named twice")
        for column in self.carry:
            if column in self.ignored:
                raise ValueError(
                    f"ignored: '{column}' is kept by carry; name it in one of them"
                )
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

    @property
    def split_names(self) -> tuple[str, ...]:
        """Names of the splits that the shards come in."""
        if self.split.has_validation:
            return ("train", "validate", "eval")
        return ("train", "eval")

    def feature(self, name: str) -> Feature:
        """Returns the feature of that name."""
        return next(f for f in self.features if f.name == name)

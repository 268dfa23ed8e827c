"""Declaration of features: one row of configuration, from which all else derives.

Schema, Transform, input parsing, model inputs, serving signature and slices are made
from these types. Id 0 of every categorical input means "absent" (and is the padding of
sequences), so known values start at 1.
"""

from itertools import pairwise
from typing import Annotated, Literal

import pydantic

from data.settings import Settings

Name = Annotated[
    str, pydantic.StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.\-]*$")
]
# Rows of the largest table that anyone trains; more is a slip of the keyboard.
MAX_BUCKETS = 2**31
MAX_HASHES = 4
Encoding = Literal["hash", "vocabulary", "identity"]
Derived = Literal["hour_of_day", "day_of_week"]


def _check_width(value: object) -> object:
    """One fault for both forms; a union reports one for each."""
    if value in (None, "auto") or (isinstance(value, int) and value >= 1):
        return value
    raise ValueError(f"must be >= 1 or auto, got {value!r}")


Width = Annotated[
    Annotated[int, pydantic.Field(ge=1)] | Literal["auto"] | None,
    pydantic.BeforeValidator(_check_width),
    pydantic.Field(
        description=(
            "Width of the embedding; the model's when absent. auto: fourth root of "
            "the table's rows, up to a multiple of 4, at most the model's."
        )
    ),
]
Hashes = Annotated[
    int,
    pydantic.Field(
        ge=1,
        le=MAX_HASHES,
        description=(
            "Hash: buckets of each value, by independent hashes; its vector is the "
            "sum of their rows."
        ),
    ),
]


class _Column(Settings):
    """What every feature read from one column of the log has."""

    name: Name = pydantic.Field(description="Name of the model input.")
    column: str | None = pydantic.Field(
        None,
        min_length=1,
        description="Column of the log; the feature's name when absent.",
    )

    @property
    def source(self) -> str:
        """The column of the log."""
        return self.column or self.name


class _Ids(Settings):
    """How values of an id column become integers."""

    encoding: Encoding = pydantic.Field(
        "hash",
        description=(
            "hash: fingerprint into buckets; vocabulary: index of values seen in "
            "training; identity: integers 0..buckets-1 taken as they are."
        ),
    )
    buckets: int | None = pydantic.Field(
        None, ge=2, le=MAX_BUCKETS, description="Number of ids for hash and identity."
    )
    hashes: Hashes = 1
    min_count: int = pydantic.Field(
        1, ge=1, description="Vocabulary: rows a value needs to get an id of its own."
    )
    max_size: int | None = pydantic.Field(
        None, ge=1, description="Vocabulary: keep only the most frequent values."
    )
    # One bucket keeps every rare value in one row, which is then trained by all of
    # them; more buckets only split the same few rows.
    oov_buckets: int = pydantic.Field(
        1, ge=1, description="Vocabulary: hashed ids for values outside it."
    )
    embedding_dim: Width = None

    @pydantic.model_validator(mode="after")
    def _encoding_fits(self) -> "_Ids":
        elsewhere = getattr(self, "vocabulary_of", None) or getattr(
            self, "derive", None
        )
        if self.encoding != "vocabulary" and self.buckets is None and not elsewhere:
            raise ValueError(f"encoding '{self.encoding}' needs buckets (>= 2)")
        if self.encoding == "vocabulary" and self.buckets is not None:
            raise ValueError(
                "encoding 'vocabulary' takes max_size and min_count, not buckets"
            )
        if self.hashes > 1 and (self.encoding != "hash" or elsewhere):
            raise ValueError(
                f"hashes: {self.hashes} needs encoding 'hash' with buckets of this "
                "feature; leave hashes out"
            )
        return self


class Categorical(_Column, _Ids):
    """One id a row; input ``[batch]`` int64, 0 = absent."""

    kind: Literal["categorical"] = "categorical"
    derive: Derived | None = pydantic.Field(
        None,
        description="Compute the id from a unix-seconds column (UTC); Monday is 0.",
    )

    @property
    def integer(self) -> bool:
        """True if the column holds integers rather than text."""
        return self.encoding == "identity" or self.derive is not None


class Sequence(_Column, _Ids):
    """A list of ids a row; input ``[batch, max_length]`` int64, 0 = padding."""

    kind: Literal["sequence"]
    max_length: int = pydantic.Field(
        ge=1, le=10_000, description="Ids kept; shorter lists are padded with 0."
    )
    keep: Literal["last", "first"] = pydantic.Field(
        "last", description="Which end survives truncation (last = most recent)."
    )
    separator: str = pydantic.Field(
        "|", min_length=1, description="Between ids, where the log stores text."
    )
    vocabulary_of: str | None = pydantic.Field(
        None,
        description="Categorical feature whose ids and embedding this list shares.",
    )

    @property
    def integer(self) -> bool:
        """True if the column holds integers rather than text."""
        return self.encoding == "identity"


class Numeric(_Column):
    """One number a row; input ``[batch]`` float32, or an id when bucketised.

    Order of steps: default for absent values, clip, log1p, then z-score or buckets.
    """

    kind: Literal["numeric"]
    default: float = pydantic.Field(0.0, description="Value of rows without one.")
    clip: tuple[float | None, float | None] | None = pydantic.Field(
        None, description="[low, high] bounds; null for none on that side."
    )
    log1p: bool = pydantic.Field(
        False, description="log(1 + x); values below 0 are clipped to 0 first."
    )
    z_score: bool = pydantic.Field(
        True, description="Subtract the mean, divide by the standard deviation."
    )
    quantiles: int | None = pydantic.Field(
        None, ge=2, description="Bucketise into this many equal-mass buckets."
    )
    boundaries: tuple[float, ...] | None = pydantic.Field(
        None, min_length=1, description="Bucketise at these ascending boundaries."
    )
    embedding_dim: Width = None

    @property
    def bucketized(self) -> bool:
        """True if the input is a bucket id instead of a number."""
        return self.quantiles is not None or self.boundaries is not None

    @pydantic.model_validator(mode="after")
    def _consistent(self) -> "Numeric":
        if self.quantiles is not None and self.boundaries is not None:
            raise ValueError("give quantiles or boundaries, not both")
        low, high = self.clip or (None, None)
        if low is not None and high is not None and low >= high:
            raise ValueError(f"clip: low must be < high, got {[low, high]}")
        edges = self.boundaries or ()
        if any(a >= b for a, b in pairwise(edges)):
            raise ValueError(f"boundaries must ascend, got {list(edges)}")
        return self


class Vector(_Column):
    """A fixed number of floats a row, such as an image embedding; ``[batch, length]``.

    A row without the vector gets zeros; one of another length is a bad row.
    """

    kind: Literal["vector"]
    length: int = pydantic.Field(ge=1, le=100_000, description="Number of floats.")
    separator: str = pydantic.Field("|", min_length=1)


class Cross(Settings):
    """The combination of two or three categorical features, hashed; ``[batch]``."""

    kind: Literal["cross"]
    name: Name
    features: tuple[str, ...] = pydantic.Field(
        min_length=2, max_length=3, description="Names of categorical features."
    )
    buckets: int = pydantic.Field(ge=2, le=MAX_BUCKETS)
    hashes: Hashes = 1
    embedding_dim: Width = None

    @pydantic.field_validator("features")
    @classmethod
    def _distinct(cls, features: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(features)) < len(features):
            raise ValueError(f"must differ from each other, got {list(features)}")
        return features


Feature = Annotated[
    Categorical | Numeric | Sequence | Vector | Cross,
    pydantic.Field(discriminator="kind"),
]

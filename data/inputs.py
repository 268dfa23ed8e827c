"""What a model reads: one typed input for each declared feature."""

from collections.abc import Mapping
from typing import Literal

from data.dataset import Dataset
from data.features import Categorical, Cross, Feature, Numeric, Sequence, Vector
from data.settings import Settings

# Number of values of the ids computed from a time.
DERIVED_SIZES = {"hour_of_day": 24, "day_of_week": 7}
# All that fit an int64 beside id 0: among 10^8 values no two are likely to share one.
FINGERPRINTS = 2**63 - 1


class ModelInput(Settings):
    """One input of a model, as Transform makes it.

    Attributes:
        name: key of the transformed feature.
        kind: ``id`` int64 [batch]; ``ids`` int64 [batch, length], 0 = padding;
            ``number`` float32 [batch]; ``vector`` float32 [batch, length].
        length: second dimension of ``ids`` and ``vector``, else 0.
        table: name of the embedding table; inputs that share ids share it. Empty for
            floats.
        vocabulary_size: number of ids, id 0 (absent) included. 0 for floats.
        hashes: rows of the table that an id reads; with more than one the ids are
            fingerprints, which the model hashes.
        buckets: rows that such hashes choose from; 0 where each id has its own row.
        embedding_dim: width of the table where the feature sets one.
    """

    name: str
    kind: Literal["id", "ids", "number", "vector"]
    length: int = 0
    table: str = ""
    vocabulary_size: int = 0
    hashes: int = 1
    buckets: int = 0
    embedding_dim: int | Literal["auto"] | None = None

    @property
    def table_rows(self) -> int:
        """Rows of the table, row 0 (absent) included."""
        return 1 + self.buckets if self.buckets else self.vocabulary_size


def vocabularies(dataset: Dataset) -> tuple[str, ...]:
    """Names of the features whose vocabulary is computed from the training rows."""
    return tuple(
        feature.name
        for feature in dataset.features
        if isinstance(feature, Categorical | Sequence)
        and feature.encoding == "vocabulary"
        and getattr(feature, "vocabulary_of", None) is None
    )


def id_range(feature: Categorical | Sequence | Cross) -> int:
    """Number of ids that Transform gives to a feature with buckets.

    Args:
        feature: the feature.

    Returns:
        Its buckets, or ``FINGERPRINTS`` where the model hashes on.
    """
    return FINGERPRINTS if feature.hashes > 1 else feature.buckets or 0


def model_inputs(
    dataset: Dataset, vocabulary_sizes: Mapping[str, int]
) -> tuple[ModelInput, ...]:
    """The inputs in the order of the declaration.

    Args:
        dataset: the declaration.
        vocabulary_sizes: for each name of ``vocabularies(dataset)``, the number of
            distinct values that Transform kept.

    Returns:
        One input a feature.
    """
    return tuple(
        _model_input(dataset, feature, vocabulary_sizes) for feature in dataset.features
    )


def _model_input(
    dataset: Dataset, feature: Feature, vocabulary_sizes: Mapping[str, int]
) -> ModelInput:
    """The input of one feature."""
    if isinstance(feature, Vector):
        return ModelInput(name=feature.name, kind="vector", length=feature.length)
    if isinstance(feature, Numeric) and not feature.bucketized:
        return ModelInput(name=feature.name, kind="number")
    owner: Feature = feature
    if isinstance(feature, Sequence) and feature.vocabulary_of:
        owner = dataset.feature(feature.vocabulary_of)
    hashes, buckets = _hashing(owner)
    return ModelInput(
        name=feature.name,
        kind="ids" if isinstance(feature, Sequence) else "id",
        length=feature.max_length if isinstance(feature, Sequence) else 0,
        table=owner.name,
        vocabulary_size=1 + _known_values(owner, vocabulary_sizes),
        hashes=hashes,
        buckets=buckets,
        embedding_dim=owner.embedding_dim if not isinstance(owner, Vector) else None,
    )


def _hashing(feature: Feature) -> tuple[int, int]:
    """Rows an id reads, and the buckets they are in where the model hashes."""
    if isinstance(feature, Categorical | Sequence | Cross) and feature.hashes > 1:
        return feature.hashes, feature.buckets or 0
    return 1, 0


def _known_values(feature: Feature, vocabulary_sizes: Mapping[str, int]) -> int:
    """Number of ids of a feature, without id 0."""
    if isinstance(feature, Numeric):
        if feature.quantiles is not None:
            return feature.quantiles
        return len(feature.boundaries or ()) + 1
    if isinstance(feature, Categorical) and feature.derive:
        return DERIVED_SIZES[feature.derive]
    assert isinstance(feature, Categorical | Sequence | Cross)
    if not isinstance(feature, Cross) and feature.encoding == "vocabulary":
        return vocabulary_sizes[feature.name] + feature.oov_buckets
    return id_range(feature)
